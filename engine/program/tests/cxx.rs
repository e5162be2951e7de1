//! What C++ adds to C: library calls inlined over several frames, memory orders that arrive as
//! arguments, names of methods and lambdas, allocation and exceptions.
mod support;
use program::interpreter::event::EventKind;
use program::interpreter::Outcome;
use program::ir::Order;
use program::Program;
use support::{find, run, value};

fn program(text: &str) -> Program {
    Program::from_ir(text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_memory_order_given_as_an_argument_leaves_one_access() {
    let text = "
@x = global i32 0
define i32 @main() {
entry:
  %is.release = icmp eq i32 3, 3
  br i1 %is.release, label %relaxed, label %same
relaxed:
  br label %chosen
same:
  br label %chosen
chosen:
  %failure = phi i32 [ 0, %relaxed ], [ 3, %same ]
  switch i32 %failure, label %monotonic [ i32 2, label %acquire
    i32 5, label %seqcst ]
monotonic:
  %a = load atomic i32, ptr @x monotonic, align 4
  br label %end
acquire:
  %b = load atomic i32, ptr @x acquire, align 4
  br label %end
seqcst:
  %c = load atomic i32, ptr @x seq_cst, align 4
  br label %end
end:
  %r = phi i32 [ %a, %monotonic ], [ %b, %acquire ], [ %c, %seqcst ]
  ret i32 %r
}";
    let sites = program(text).sites;
    let orders: Vec<Order> = sites.iter().map(|s| s.order).collect();
    assert_eq!(orders, [Order::Rlx], "{sites:?}");
}

#[test]
fn a_value_that_depends_on_more_than_constants_is_not_folded() {
    let run = run("
@x = global i32 1
@y = global [2 x i32] zeroinitializer
define i32 @main() {
entry:
  %r = load atomic i32, ptr @x monotonic, align 4
  %zero = and i32 %r, 0
  %none = mul i32 0, %zero
  %same = select i1 true, i32 %none, i32 %none
  %i = sext i32 %same to i64
  %p = getelementptr [2 x i32], ptr @y, i64 0, i64 %i
  store i32 1, ptr %p
  ret i32 0
}");
    let stores = find(&run.threads[0], EventKind::Write, "y");
    assert_eq!(
        stores[0].1.addr,
        [0],
        "the store's address comes from the load"
    );
}

#[test]
fn a_loop_whose_values_start_as_constants_runs_to_its_end() {
    let body = "
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %last = phi i64 [ 7, %entry ], [ %last, %body ]
  %more = icmp ult i64 %i, 3
  br i1 %more, label %body, label %after
body:
  %next = add i64 %i, 1
  br label %head
after:
  %r = add i64 %i, %last";
    assert_eq!(value("", body), 10);
}

const DEBUG: &str = "
!1 = !DIFile(filename: \"q.cpp\", directory: \"\")
!2 = !DIFile(filename: \"<atomic.h>\", directory: \"\")
!3 = distinct !DISubprogram(name: \"main\", file: !1, line: 20)
!4 = distinct !DICompositeType(tag: DW_TAG_class_type, file: !1, line: 21, scope: !3)
!5 = distinct !DISubprogram(name: \"operator()\", scope: !4, file: !1, line: 21)
!6 = distinct !DICompositeType(tag: DW_TAG_class_type, name: \"Queue<int>\", file: !1, line: 1)
!7 = distinct !DISubprogram(name: \"push<long>\", scope: !6, file: !1, line: 5)
!8 = distinct !DISubprogram(name: \"store\", file: !2, line: 80)
!9 = distinct !DISubprogram(name: \"start\", file: !2, line: 90)
!10 = !DILocation(line: 81, column: 1, scope: !8, inlinedAt: !11)
!11 = distinct !DILocation(line: 6, column: 7, scope: !7, inlinedAt: !12)
!12 = distinct !DILocation(line: 21, column: 9, scope: !5, inlinedAt: !13)
!13 = distinct !DILocation(line: 91, column: 3, scope: !9)
";

#[test]
fn a_site_is_the_users_line_and_its_chain_the_users_calls() {
    let text = format!(
        "@x = global i32 0\ndefine i32 @main() !dbg !9 {{\n  \
         store atomic i32 1, ptr @x release, align 4, !dbg !10\n  ret i32 0, !dbg !13\n}}\n{DEBUG}"
    );
    let program = program(&text);
    let site = &program.sites[0];
    assert_eq!(site.place(), "q.cpp:6:7");
    assert_eq!(site.function, "Queue::push");
    assert_eq!(site.chain, ["main::lambda@q.cpp:21:9"]);
    assert_eq!(
        program.functions[0].name, "main::lambda",
        "not the library's name"
    );
    let calls: Vec<&str> = program.calls.iter().map(|c| c.function.as_str()).collect();
    assert_eq!(
        calls,
        ["Queue::push"],
        "the operation is what the thread's function calls"
    );
}

#[test]
fn a_lambda_inside_itself_still_has_a_name() {
    let text = "define i32 @main() !dbg !1 {\n  ret i32 0\n}\n\
        !1 = distinct !DISubprogram(name: \"operator()\", scope: !2)\n\
        !2 = distinct !DICompositeType(tag: DW_TAG_class_type, scope: !1)\n";
    assert!(program(text).functions[0].name.ends_with("::lambda"));
}

#[test]
fn operator_new_and_delete_are_allocation_and_free() {
    let declarations = "
declare ptr @_Znwm(i64)
declare ptr @_ZnwmSt11align_val_t(i64, i64)
declare ptr @_ZnamRKSt9nothrow_t(i64, ptr)
declare void @_ZdlPvm(ptr, i64)
declare void @_ZdaPv(ptr)
declare void @_ZdlPvSt11align_val_t(ptr, i64)";
    let body = "
  %a = call ptr @_Znwm(i64 8)
  %b = call ptr @_ZnwmSt11align_val_t(i64 8, i64 64)
  %c = call ptr @_ZnamRKSt9nothrow_t(i64 8, ptr null)
  store i64 5, ptr %a
  store i64 6, ptr %c
  %v = load i64, ptr %a
  %b8 = ptrtoint ptr %b to i64
  %low = and i64 %b8, 63
  call void @_ZdlPvm(ptr %a, i64 8)
  call void @_ZdaPv(ptr %c)
  call void @_ZdlPvSt11align_val_t(ptr %b, i64 64)
  %r = add i64 %v, %low";
    assert_eq!(value(declarations, body), 5);
    let twice = "declare ptr @_Znwm(i64)\ndeclare void @_ZdlPv(ptr)\ndefine i32 @main() {\n  \
        %a = call ptr @_Znwm(i64 8)\n  call void @_ZdlPv(ptr %a)\n  call void @_ZdlPv(ptr %a)\n  \
        ret i32 0\n}";
    assert_eq!(run(twice).outcome, Outcome::Memory);
}

#[test]
fn an_exception_that_is_thrown_ends_the_program() {
    let text = "
declare ptr @__cxa_allocate_exception(i64)
declare void @_ZNSt11logic_errorC2EPKc(ptr, ptr)
declare void @__cxa_throw(ptr, ptr, ptr)
define i32 @main() {
  %e = call ptr @__cxa_allocate_exception(i64 16)
  call void @_ZNSt11logic_errorC2EPKc(ptr %e, ptr null)
  call void @__cxa_throw(ptr %e, ptr null, ptr null)
  unreachable
}";
    let run = run(text);
    assert_eq!(run.outcome, Outcome::Assertion);
    assert!(run.message.contains("exception"), "{}", run.message);
}

#[test]
fn two_fields_of_the_library_have_two_names_and_its_only_one_none() {
    let text = "
%pair = type { i64, i64 }
@q = global %pair zeroinitializer, !dbg !20
@a = global i64 0, !dbg !30
define i32 @main() {
  store i64 1, ptr @q
  store i64 2, ptr getelementptr (%pair, ptr @q, i64 0, i32 1)
  store i64 3, ptr @a
  ret i32 0
}
!20 = !DIGlobalVariableExpression(var: !21, expr: !DIExpression())
!21 = distinct !DIGlobalVariable(name: \"q\", type: !22)
!22 = distinct !DICompositeType(tag: DW_TAG_class_type, name: \"deque\", size: 128, elements: !23)
!23 = !{!24, !25}
!24 = !DIDerivedType(tag: DW_TAG_member, name: \"__begin_\", baseType: !26, size: 64)
!25 = !DIDerivedType(tag: DW_TAG_member, name: \"__end_\", baseType: !26, size: 64, offset: 64)
!26 = !DIBasicType(name: \"long\", size: 64)
!30 = !DIGlobalVariableExpression(var: !31, expr: !DIExpression())
!31 = distinct !DIGlobalVariable(name: \"a\", type: !32)
!32 = distinct !DICompositeType(tag: DW_TAG_class_type, name: \"atomic\", size: 64, elements: !33)
!33 = !{!34}
!34 = !DIDerivedType(tag: DW_TAG_member, name: \"__a_\", baseType: !26, size: 64)
";
    let run = run(text);
    let names: Vec<&str> = run.threads[0].iter().map(|e| e.loc.as_str()).collect();
    assert_eq!(names, ["q.__begin_", "q.__end_", "a"]);
}
