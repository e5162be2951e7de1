//! How the runs of small programs in LLVM IR end: assertions, deadlocks, bounds, faults of memory.
mod support;
use program::interpreter::event::EventKind;
use program::interpreter::Outcome;
use program::trace::{Options, Run, Trace};
use program::Program;
use std::collections::BTreeSet;
use support::{find, fixture, trace, value};

fn text(threads: &str) -> Program {
    let text = format!(
        "@x = global i32 0\n@y = global i32 0\n@h = global i64 0\n@.s = constant [4 x i8] c\"x!\\00\\00\"\n\
         declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndeclare i32 @pthread_join(ptr, ptr)\n\
         declare ptr @malloc(i64)\ndeclare void @free(ptr)\n\
         declare void @__assert_fail(ptr, ptr, i32, ptr)\n{threads}"
    );
    Program::from_ir(&text).unwrap_or_else(|e| panic!("{e}"))
}

const MAIN: &str = "
define i32 @main() {
  %a = call i32 @pthread_create(ptr @h, ptr null, ptr @one, ptr null)
  store atomic i32 1, ptr @x release, align 4
  ret i32 0
}";

fn outcomes(program: &Program) -> BTreeSet<&'static str> {
    let trace = trace(program);
    trace.runs.iter().map(|r| r.outcome.name()).collect()
}

#[test]
fn an_assertion_that_one_order_breaks_is_found() {
    let program = text(&format!(
        "define ptr @one(ptr %p) {{
  %v = load atomic i32, ptr @x acquire, align 4
  %c = icmp eq i32 %v, 0
  br i1 %c, label %good, label %bad
bad:
  call void @__assert_fail(ptr @.s, ptr @.s, i32 1, ptr @.s)
  unreachable
good:
  ret ptr null
}}{MAIN}"
    ));
    let trace = trace(&program);
    let bad = trace.runs.iter().find(|r| r.outcome == Outcome::Assertion);
    let bad = bad.expect("found");
    assert_eq!(bad.message, "assertion failed: x!");
    assert_eq!(program.sites[bad.site.unwrap() as usize].kind, "assert");
    assert_eq!(outcomes(&program), ["assertion", "complete"].into());
}

#[test]
fn a_wait_that_nobody_ends_is_a_deadlock_unless_main_is_over() {
    let wait = |value: u32| {
        format!(
            "define ptr @one(ptr %p) {{
entry:
  br label %loop
loop:
  %v = load atomic i32, ptr @x acquire, align 4
  %c = icmp eq i32 %v, {value}
  br i1 %c, label %out, label %loop
out:
  ret ptr null
}}"
        )
    };
    let joined = MAIN.replace(
        "  ret i32 0",
        "  %t = load ptr, ptr @h\n  %j = call i32 @pthread_join(ptr %t, ptr null)\n  ret i32 0",
    );
    assert_eq!(outcomes(&text(&(wait(1) + &joined))), ["complete"].into());
    let program = text(&(wait(2) + &joined));
    assert_eq!(outcomes(&program), ["deadlock"].into());
    let trace = trace(&program);
    let site = &program.sites[trace.runs[0].site.unwrap() as usize];
    assert_eq!(site.kind, "loop");
    assert_eq!(outcomes(&text(&(wait(2) + MAIN))), ["complete"].into());
}

#[test]
fn loops_that_work_are_truncated_at_the_bound_and_counted_loops_are_not() {
    let round = |step: &str, more: &str| {
        text(&format!(
            "define ptr @one(ptr %p) {{
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %n, %loop ]
  %n = add i32 %i, 1
  {step}
  br i1 {more}, label %loop, label %out
out:
  ret ptr null
}}{MAIN}"
        ))
    };
    let work = round(
        "%o = atomicrmw add ptr @x, i32 1 monotonic, align 4\n  %c = icmp ne i32 %o, 1000",
        "%c",
    );
    let bounded = work.trace(&Options::default());
    assert!(!bounded.exhaustive);
    assert_eq!(bounded.bound_sites.len(), 1);
    assert_eq!(work.sites[bounded.bound_sites[0] as usize].kind, "loop");
    let rounds = |t: &Trace| find(&t.runs[0].threads[1], EventKind::Rmw, "x").len();
    assert_eq!(rounds(&bounded), 5, "four times back and then no more");
    let counted = round(
        "%o = atomicrmw add ptr @x, i32 1 monotonic, align 4\n  %c = icmp ult i32 %n, 20",
        "%c",
    );
    let whole = counted.trace(&Options::default());
    assert!(whole.exhaustive);
    assert_eq!(rounds(&whole), 20);
    // the other thread continues after the limit
    let after = |r: &Run| !find(&r.threads[0], EventKind::Write, "x").is_empty();
    assert!(bounded.runs.iter().all(after));
    // what the loop counts affects nothing: it waits, forever, and main is over
    let endless = round("%c = icmp eq i32 0, 0", "%c");
    assert_eq!(outcomes(&endless), ["complete"].into());
}

#[test]
fn faults_of_memory_are_found() {
    let broken = |body: &str| {
        let program = text(&format!(
            "define i32 @main() {{\n  %p = call ptr @malloc(i64 8)\n  %e = getelementptr i8, ptr %p, i64 8\n{body}\n  ret i32 0\n}}"
        ));
        let trace = trace(&program);
        let run = &trace.runs[0];
        assert_eq!(run.outcome, Outcome::Memory, "{body}");
        run.message.clone()
    };
    for (body, message) in [
        ("  store i32 1, ptr null", "null"),
        ("  store i32 1, ptr %e", "8 to 12 of an object of 8"),
        (
            "  call void @free(ptr %p)\n  %v = load i32, ptr %p",
            "use after free",
        ),
        (
            "  call void @free(ptr %p)\n  call void @free(ptr %p)",
            "double free",
        ),
        (
            "  call void @free(ptr %e)",
            "free of a pointer that malloc did not",
        ),
        (
            "  call void @free(ptr @x)",
            "free of a pointer that malloc did not",
        ),
        ("  store i8 1, ptr @.s", "constant"),
        ("  %v = load i64, ptr @x", "of 4 bytes, x"),
        ("  %v = udiv i32 1, 0", "division by zero"),
        (
            "  %v = load i32, ptr inttoptr (i64 1234567 to ptr)",
            "unallocated memory",
        ),
        ("  call void @x()", "no function"),
    ] {
        let found = broken(body);
        assert!(found.contains(message), "{body}: {found}");
    }
}

#[test]
fn a_free_is_tried_before_and_after_the_accesses_of_others() {
    // both only read the node, so no two accesses to it conflict
    let program = text(
        "define ptr @one(ptr %p) {
  %n = load atomic ptr, ptr @h acquire, align 8
  %v = load i32, ptr %n
  ret ptr null
}
define i32 @main() {
  %n = call ptr @malloc(i64 8)
  store i32 5, ptr %n
  store ptr %n, ptr @h
  %t = alloca ptr
  %a = call i32 @pthread_create(ptr %t, ptr null, ptr @one, ptr null)
  %v = load i32, ptr %n
  call void @free(ptr %n)
  ret i32 0
}",
    );
    assert_eq!(outcomes(&program), ["complete", "memory"].into());
}

#[test]
fn polling_under_a_lock_waits_too() {
    let program = text(
        "@m = global [10 x i32] zeroinitializer
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
define ptr @one(ptr %p) {
entry:
  br label %loop
loop:
  %l = call i32 @pthread_mutex_lock(ptr @m)
  %v = load i32, ptr @x
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  %c = icmp eq i32 %v, 1
  br i1 %c, label %out, label %loop
out:
  ret ptr null
}
define i32 @main() {
  %t = alloca ptr
  %a = call i32 @pthread_create(ptr %t, ptr null, ptr @one, ptr null)
  %l = call i32 @pthread_mutex_lock(ptr @m)
  store i32 1, ptr @x
  %u = call i32 @pthread_mutex_unlock(ptr @m)
  %h = load ptr, ptr %t
  %j = call i32 @pthread_join(ptr %h, ptr null)
  ret i32 0
}",
    );
    let trace = trace(&program);
    assert!(trace.exhaustive);
    let locks = |r: &Run| find(&r.threads[1], EventKind::Lock, "m").len();
    let locks: BTreeSet<usize> = trace.runs.iter().map(locks).collect();
    assert_eq!(locks, [1, 2].into());
    assert_eq!(outcomes(&program), ["complete"].into());
}

#[test]
fn addresses_are_the_same_in_all_runs() {
    let trace = trace(&fixture("stack"));
    let mut known: Vec<(String, u64)> = Vec::new();
    for e in trace.runs.iter().flat_map(|r| r.threads.iter().flatten()) {
        match known.iter().find(|k| k.0 == e.loc && !e.loc.is_empty()) {
            Some(k) => assert_eq!(k.1, e.event.address, "{}", e.loc),
            None => known.push((e.loc.clone(), e.event.address)),
        }
    }
}

#[test]
fn a_parameter_may_have_several_registers() {
    let sum = "
define i64 @sum({ i32, i64 } %pair, i64 %c, i128 %wide) {
  %a = extractvalue { i32, i64 } %pair, 0
  %first = zext i32 %a to i64
  %b = extractvalue { i32, i64 } %pair, 1
  %upper = lshr i128 %wide, 64
  %d = trunc i128 %upper to i64
  %tens = mul i64 %b, 10
  %hundreds = mul i64 %c, 100
  %thousands = mul i64 %d, 1000
  %one = add i64 %first, %tens
  %two = add i64 %one, %hundreds
  %all = add i64 %two, %thousands
  ret i64 %all
}";
    for callee in ["@sum", "%pointer"] {
        let body = format!(
            "  %p = alloca ptr
  store ptr @sum, ptr %p
  %pointer = load ptr, ptr %p
  %pair = insertvalue {{ i32, i64 }} {{ i32 1, i64 0 }}, i64 2, 1
  %wide = shl i128 4, 64
  %r = call i64 {callee}({{ i32, i64 }} %pair, i64 3, i128 %wide)"
        );
        assert_eq!(value(sum, &body), 4321, "{callee}");
    }
}

#[test]
fn a_wide_number_is_shifted_by_a_distance_that_is_not_constant() {
    let by = |op: &str, distance: u32, half: u32| {
        let body = format!(
            "  %place = alloca i128
  store i128 {distance}, ptr %place
  %distance = load i128, ptr %place
  %wide = {op} i128 -170141183460469231722567801128186707967, %distance
  %upper = lshr i128 %wide, {half}
  %r = trunc i128 %upper to i64"
        );
        value("", &body)
    };
    let number: i128 = -170_141_183_460_469_231_722_567_801_128_186_707_967;
    for distance in [0, 1, 63, 64, 65, 127] {
        for half in [0, 64] {
            let left = (number << distance) as u128 >> half;
            assert_eq!(by("shl", distance, half), left as u64, "shl {distance}");
            let right = (number as u128 >> distance) >> half;
            assert_eq!(by("lshr", distance, half), right as u64, "lshr {distance}");
            let signed = (number >> distance) as u128 >> half;
            assert_eq!(by("ashr", distance, half), signed as u64, "ashr {distance}");
        }
    }
}

#[test]
fn constants_of_65_to_127_bits_have_two_halves() {
    let body = "  %place = alloca i96
  store i96 -2, ptr %place
  %all = load i96, ptr %place
  %some = and i96 %all, 36893488147419103235
  %wide = zext i96 %all to i128
  %upper = lshr i128 %wide, 64
  %high = trunc i128 %upper to i64
  %low = trunc i96 %some to i64
  %r = add i64 %high, %low";
    assert_eq!(value("", body), 0xffff_ffff + 2);
}
