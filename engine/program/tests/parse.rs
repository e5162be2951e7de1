//! Every instruction and constant of the IR is read as the language reference says.
mod support;
use support::value;

#[test]
fn arithmetic_with_its_flags() {
    let body = "
  %a = add nuw nsw i64 40, 2
  %b = sub nsw i64 %a, 2
  %c = mul i64 %b, 3
  %d = udiv exact i64 %c, 4
  %e = urem i64 %d, 7
  %f = sdiv i64 -9, 2
  %g = srem i64 -9, 4
  %h = and i64 %f, 15
  %i = or disjoint i64 %h, 16
  %j = xor i64 %i, %g
  %k = shl i64 %j, 4
  %l = lshr i64 %k, 60
  %m = ashr exact i64 %k, 4
  %n = add i64 %l, %m
  %r = add i64 %n, %e";
    let f = -9i64 / 2;
    let j = ((f & 15) | 16) ^ (-9i64 % 4);
    let k = j << 4;
    let expected = ((k as u64 >> 60) as i64) + (k >> 4) + (30 % 7);
    assert_eq!(value("", body), expected as u64);
}

#[test]
fn casts_and_narrow_types() {
    let body = "
  %a = trunc i64 511 to i8
  %b = sext i8 %a to i32
  %c = zext nneg i32 %b to i64
  %p = inttoptr i64 %c to ptr
  %q = ptrtoint ptr %p to i64
  %s = bitcast i64 %q to i64
  %t = freeze i64 %s
  %u = trunc i64 %t to i1
  %v = zext i1 %u to i64
  %r = add i64 %t, %v";
    assert_eq!(value("", body), 0x1_0000_0000);
}

#[test]
fn comparisons_and_selects() {
    let mut expected = 0u64;
    let mut body = String::from("  %r0 = add i64 0, 0\n");
    let predicates = [
        ("eq", false),
        ("ne", true),
        ("ugt", true),
        ("uge", true),
        ("ult", false),
        ("ule", false),
        ("sgt", false),
        ("sge", false),
        ("slt", true),
        ("sle", true),
    ];
    for (k, (predicate, holds)) in predicates.iter().enumerate() {
        let n = k + 1;
        body.push_str(&format!(
            "  %c{n} = icmp {predicate} i8 -1, 1\n  %s{n} = select i1 %c{n}, i64 {}, i64 0\n  \
             %r{n} = or i64 %r{k}, %s{n}\n",
            1 << k
        ));
        expected |= u64::from(*holds) << k;
    }
    body.push_str("  %r = add i64 %r10, 0");
    assert_eq!(value("", &body), expected);
}

#[test]
fn three_way_comparisons() {
    let declarations = "declare i8 @llvm.scmp.i8.i64(i64, i64)\n\
                        declare i8 @llvm.ucmp.i8.i32(i32, i32)";
    let body = "
  %a = call i8 @llvm.scmp.i8.i64(i64 -1, i64 1)
  %b = call i8 @llvm.ucmp.i8.i32(i32 -1, i32 1)
  %c = call i8 @llvm.scmp.i8.i64(i64 7, i64 7)
  %x = sext i8 %a to i64
  %y = zext i8 %b to i64
  %z = zext i8 %c to i64
  %high = mul i64 %y, 100
  %sum = add i64 %high, %z
  %r = add i64 %sum, %x";
    // less, greater, equal
    assert_eq!(value(declarations, body), 99);
}

#[test]
fn control_flow_with_phis_and_switch() {
    let body = "
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %a = phi i64 [ 1, %entry ], [ %b, %latch ]
  %b = phi i64 [ 2, %entry ], [ %a, %latch ]
  switch i64 %i, label %other [
    i64 0, label %latch
    i64 5, label %out
  ]
other:
  br label %latch
latch:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %head, label %out, !llvm.loop !0
out:
  %last = phi i64 [ %i, %head ], [ 77, %latch ]
  %x = mul i64 %last, 100
  %y = mul i64 %a, 10
  %z = add i64 %x, %y
  %r = add i64 %z, %b";
    // the phis swap: five rounds leave 2 and 1
    assert_eq!(value("!0 = distinct !{!0}", body), 521);
}

#[test]
fn memory_and_aggregates() {
    let declarations = "
%pair = type { i32, [3 x i16] }
@array = global [2 x %pair] [%pair { i32 1, [3 x i16] [i16 2, i16 3, i16 4] }, %pair zeroinitializer], align 4
@where = global ptr getelementptr inbounds (%pair, ptr @array, i32 0, i32 1, i64 2)
@number = constant i64 sub (i64 ptrtoint (ptr getelementptr (%pair, ptr @array, i64 1) to i64), i64 ptrtoint (ptr @array to i64))
@text = private unnamed_addr constant [4 x i8] c\"ab\\00\\FF\", align 1";
    let body = "
  %l = alloca { i64, i1 }, align 8
  %n = alloca i32, i32 4, align 16
  %p = load ptr, ptr @where
  %h = load i16, ptr %p
  store i16 9, ptr getelementptr inbounds ([2 x %pair], ptr @array, i64 0, i64 1, i32 1, i64 1)
  %q = getelementptr inbounds nuw [2 x %pair], ptr @array, i64 0, i64 1, i32 1, i64 1
  %k = load i16, ptr %q, align 2
  %s = load i64, ptr @number
  %v = insertvalue { i64, i1 } poison, i64 %s, 0
  %w = insertvalue { i64, i1 } %v, i1 true, 1
  store { i64, i1 } %w, ptr %l
  %o = load { i64, i1 }, ptr %l
  %f = extractvalue { i64, i1 } %o, 0
  %g = extractvalue { i64, i1 } %o, 1
  %t = load i8, ptr getelementptr (i8, ptr @text, i64 3)
  %h6 = zext i16 %h to i64
  %k6 = zext i16 %k to i64
  %g6 = zext i1 %g to i64
  %t6 = zext i8 %t to i64
  %a = add i64 %h6, %k6
  %b = add i64 %a, %f
  %c = add i64 %b, %g6
  %r = add i64 %c, %t6";
    // 4 + 9 + 12 + 1 + 255: i32 and three i16 round up to 12 bytes
    assert_eq!(value(declarations, body), 281);
}

#[test]
fn atomics() {
    let declarations = "@x = global i32 5, align 4\n@p = global ptr null";
    let body = "
  %a = load atomic volatile i32, ptr @x acquire, align 4
  store atomic i32 7, ptr @x release, align 4
  %b = atomicrmw volatile add ptr @x, i32 3 seq_cst, align 4
  %c = atomicrmw xchg ptr @x, i32 20 syncscope(\"singlethread\") monotonic, align 4
  %d = cmpxchg weak volatile ptr @x, i32 20, i32 30 acq_rel monotonic, align 4
  %e = extractvalue { i32, i1 } %d, 1
  %f = cmpxchg ptr @x, i32 1, i32 2 seq_cst acquire, align 4
  %g = extractvalue { i32, i1 } %f, 0
  %h = extractvalue { i32, i1 } %f, 1
  fence acq_rel
  fence syncscope(\"singlethread\") seq_cst
  %i = atomicrmw umin ptr @x, i32 4 release, align 4
  %j = atomicrmw nand ptr @x, i32 6 monotonic, align 4
  %k = load atomic i32, ptr @x unordered, align 4
  %e4 = zext i1 %e to i32
  %h4 = zext i1 %h to i32
  %m = add i32 %a, %b
  %n = add i32 %m, %c
  %o = add i32 %n, %e4
  %q = add i32 %o, %g
  %s = add i32 %q, %h4
  %t = add i32 %s, %i
  %u = add i32 %t, %j
  %v = sub i32 %u, %k
  %w = sext i32 %v to i64
  %r = and i64 %w, 4294967295";
    // 5 + 7 + 10 + 1 + 30 + 0 + 30 + 4 - ~(4 & 6)
    assert_eq!(value(declarations, body), (87 - !4i64) as u64);
}

#[test]
fn calls_of_all_kinds() {
    let declarations = "
@table = global [2 x ptr] [ptr @twice, ptr @fib]
define internal noundef i64 @twice(i64 noundef %x) #0 {
  %y = mul i64 %x, 2
  ret i64 %y
}
define i64 @fib(i64 %0) {
  %2 = icmp ult i64 %0, 2
  br i1 %2, label %3, label %4
3:
  ret i64 %0
4:
  %5 = sub i64 %0, 1
  %6 = tail call i64 @fib(i64 noundef %5)
  %7 = sub i64 %0, 2
  %8 = call fastcc i64 @fib(i64 %7) #1
  %9 = add i64 %6, %8
  ret i64 %9
}
define { i64, i32 } @both(ptr nocapture readonly align 8 dereferenceable(8) %p) {
  %v = load i64, ptr %p
  %a = insertvalue { i64, i32 } undef, i64 %v, 0
  %b = insertvalue { i64, i32 } %a, i32 6, 1
  ret { i64, i32 } %b
}
declare i32 @printf(ptr, ...)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)
declare i64 @llvm.umax.i64(i64, i64)
declare { i64, i1 } @llvm.uadd.with.overflow.i64(i64, i64)
attributes #0 = { nounwind \"frame-pointer\"=\"all\" }";
    let body = "
  %l = alloca i64
  store i64 100, ptr %l
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %l, ptr align 8 %l, i64 8, i1 false)
  %f = load ptr, ptr getelementptr ([2 x ptr], ptr @table, i64 0, i64 1)
  %a = call i64 %f(i64 noundef 10), !dbg !5
  %b = call i64 @twice(i64 4)
  %c = call { i64, i32 } @both(ptr noundef nonnull align 8 %l)
  %d = extractvalue { i64, i32 } %c, 0
  %e = extractvalue { i64, i32 } %c, 1
  %e6 = zext i32 %e to i64
  %g = call i32 (ptr, ...) @printf(ptr @table, i64 1, double 2.5)
  %h = call i64 @llvm.umax.i64(i64 -1, i64 1)
  %i = call { i64, i1 } @llvm.uadd.with.overflow.i64(i64 %h, i64 1)
  %j = extractvalue { i64, i1 } %i, 1
  %j6 = zext i1 %j to i64
  %m = add i64 %a, %b
  %n = add i64 %m, %d
  %o = add i64 %n, %e6
  %q = add i64 %o, %j6
  %r = add i64 %q, 0";
    assert_eq!(value(declarations, body), 55 + 8 + 100 + 6 + 1);
}

#[test]
fn thread_locals_aliases_and_quoted_names() {
    let declarations = "
@\"odd name\" = thread_local(initialexec) global i32 11, align 4
@y = global i32 31
@same = alias i32, ptr @y
declare ptr @llvm.threadlocal.address.p0(ptr)";
    let body = "
  %\"a b\" = call align 4 ptr @llvm.threadlocal.address.p0(ptr align 4 @\"odd name\")
  %v = load i32, ptr %\"a b\"
  %w = load i32, ptr @same
  %s = add i32 %v, %w
  %r = zext i32 %s to i64";
    assert_eq!(value(declarations, body), 42);
}

#[test]
fn floats_are_moved_but_not_computed_with() {
    let declarations = "@d = global double 1.5\n@f = global float 0x3FF8000000000000";
    let body = "
  %a = load double, ptr @d
  store double %a, ptr @d
  %b = bitcast double %a to i64
  %c = load float, ptr @f
  %d = bitcast float %c to i32
  %e = zext i32 %d to i64
  %r = add i64 %b, %e";
    let expected = 1.5f64.to_bits() + u64::from(1.5f32.to_bits());
    assert_eq!(value(declarations, body), expected);
}

#[test]
fn constructors_run_before_main() {
    let declarations = "
@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @late, ptr null }, { i32, ptr, ptr } { i32 101, ptr @early, ptr null }]
@g = global i64 1
define internal void @early() {
  store i64 5, ptr @g
  ret void
}
define internal void @late() {
  %v = load i64, ptr @g
  %w = mul i64 %v, 10
  store i64 %w, ptr @g
  ret void
}";
    assert_eq!(value(declarations, "  %r = load i64, ptr @g"), 50);
}
