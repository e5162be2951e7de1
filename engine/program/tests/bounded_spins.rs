//! Which loops look at memory a limited number of times, and do nothing else.
use program::ir::arithmetic::compare;
use program::ir::bits::{mask, sext};
use program::ir::operators::Predicate;
use program::ir::{Counter, CounterTest, Operand};
use program::Program;

const HEAD: &str = "\
target datalayout = \"e-m:e-i64:64-i128:128-f80:128-n8:16:32:64-S128\"
target triple = \"x86_64-unknown-linux-musl\"
@x = global i32 0, align 4
@y = global i32 0, align 4
";

/// Whether the only loop of a function has a counter.
fn counts(body: &str) -> bool {
    let text = format!("{HEAD}define i32 @main() {{\n{body}}}\n");
    let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let loops = &program.functions[program.main as usize].loops;
    assert_eq!(loops.len(), 1, "{text}");
    loops[0].counter.is_some()
}

const EARLY: &str = "\
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %tail ]
  %more = icmp slt i32 %i, 100
  br i1 %more, label %look, label %done
look:
  %read = load atomic i32, ptr @x monotonic, align 4
  %locked = icmp eq i32 %read, 1
  br i1 %locked, label %tail, label %done
tail:
  %j = add nsw i32 %i, 1
  br label %head
done:
  ret i32 0
";

#[test]
fn a_loop_that_looks_a_limited_number_of_times_has_a_counter() {
    assert!(counts(EARLY));
}

#[test]
fn a_test_may_be_joined_with_others_and_come_late() {
    let late = EARLY
        .replace(
            "head:\n  %i = phi i32 [ 0, %entry ], [ %j, %tail ]\n",
            "head:\n  br label %look\nlook:\n  %i = phi i32 [ 0, %head ], [ %j, %tail ]\n",
        )
        .replace(
            "  %more = icmp slt i32 %i, 100\n  br i1 %more, label %look, label %done\nlook:\n",
            "",
        )
        .replace(
            "  br label %head\ndone",
            "  %more = icmp ne i32 %j, 100\n  br i1 %more, label %look, label %done\ndone",
        );
    assert!(counts(&late));
    // as clang writes `i < 100 && load(x) == 1`
    let joined = EARLY
        .replace(
            "label %look, label %done\nlook",
            "label %look, label %both\nlook",
        )
        .replace(
            "br i1 %locked, label %tail, label %done",
            "br label %both\nboth:\n  \
                  %go = phi i1 [ false, %head ], [ %locked, %look ]\n  \
                  br i1 %go, label %tail, label %done",
        );
    assert!(counts(&joined));
    // and `load(x) == 1 && i < 100`
    let last = "\
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %tail ]
  %read = load atomic i32, ptr @x monotonic, align 4
  %locked = icmp eq i32 %read, 1
  br i1 %locked, label %count, label %both
count:
  %more = icmp slt i32 %i, 100
  br label %both
both:
  %go = phi i1 [ false, %head ], [ %more, %count ]
  br i1 %go, label %tail, label %done
tail:
  %j = add nsw i32 %i, 1
  br label %head
done:
  ret i32 0
";
    assert!(counts(last));
    // the counter alone does not end the loop, is used behind it, or is stored
    assert!(!counts(&last.replace(
        "  br i1 %go,",
        "  %or = select i1 %go, i1 true, i1 %locked\n  br i1 %or,"
    )));
    let used = last.replace("ret i32 0", "%r = zext i1 %go to i32\n  ret i32 %r");
    assert!(!counts(&used));
    let stored = last.replace(
        "tail:\n",
        "tail:\n  %bit = zext i1 %go to i32\n  store i32 %bit, ptr @y\n",
    );
    assert!(!counts(&stored));
}

/// As clang writes `while (load(x) == 1 && --i > 0) {}`.
const STEPPED_LATE: &str = "\
entry:
  br label %head
head:
  %i = phi i32 [ 100, %entry ], [ %joined, %tail ]
  %read = load atomic i32, ptr @x monotonic, align 4
  %locked = icmp eq i32 %read, 1
  br i1 %locked, label %count, label %both
count:
  %j = sub i32 %i, 1
  %more = icmp sgt i32 %j, 0
  br label %both
both:
  %joined = phi i32 [ %i, %head ], [ %j, %count ]
  %go = phi i1 [ false, %head ], [ %more, %count ]
  br i1 %go, label %tail, label %done
tail:
  br label %head
done:
  ret i32 0
";

#[test]
fn a_counter_may_be_stepped_after_the_loop_has_looked() {
    assert!(counts(STEPPED_LATE));
    // here some iterations that stay in the loop do not count, or count otherwise, or the counter is
    // used behind the loop
    assert!(!counts(
        &STEPPED_LATE.replace("[ false, %head ]", "[ true, %head ]")
    ));
    assert!(!counts(
        &STEPPED_LATE.replace("[ %i, %head ], [ %j", "[ %i, %head ], [ 7")
    ));
    assert!(!counts(
        &STEPPED_LATE.replace("ret i32 0", "ret i32 %joined")
    ));
    assert!(!counts(
        &STEPPED_LATE.replace("tail:\n", "tail:\n  store i32 %joined, ptr @y\n")
    ));
}

/// As rustc writes the loop of its mutexes.
const SELECTED: &str = "\
entry:
  br label %look
look:
  %i = phi i32 [ %j, %look ], [ 100, %entry ]
  %j = add nsw i32 %i, -1
  %read = load atomic i32, ptr @x monotonic, align 4
  %free = icmp ne i32 %read, 1
  %last = icmp eq i32 %j, 0
  %done = select i1 %free, i1 true, i1 %last
  br i1 %done, label %end, label %look
end:
  ret i32 %read
";

#[test]
fn a_test_may_be_part_of_a_condition() {
    assert!(counts(SELECTED));
    let (or, and) = (
        "select i1 %free, i1 true, i1 %last",
        "select i1 %free, i1 %last, i1 false",
    );
    assert!(counts(&SELECTED.replace(or, "or i1 %free, %last")));
    // here the counter alone does not end the loop
    assert!(!counts(&SELECTED.replace(or, and)));
    assert!(!counts(&SELECTED.replace(or, "and i1 %last, %free")));
    let reversed = SELECTED.replace("label %end, label %look", "label %look, label %end");
    assert!(!counts(&reversed));
    assert!(counts(&reversed.replace(or, "xor i1 %last, true")));
}

#[test]
fn what_was_read_may_be_used_behind_the_loop() {
    let kept = EARLY
        .replace(
            "head:\n",
            "head:\n  %last = phi i32 [ 0, %entry ], [ %read, %tail ]\n",
        )
        .replace(
            "done:\n  ret i32 0",
            "done:\n  %seen = phi i32 [ %last, %head ], [ %read, %look ]\n  ret i32 %seen",
        );
    assert!(counts(&kept));
    let other = kept
        .replace("[ %read, %tail ]", "[ %sum, %tail ]")
        .replace("tail:\n", "tail:\n  %sum = add i32 %last, %read\n");
    assert!(!counts(&other));
}

#[test]
fn a_counter_that_is_used_behind_the_loop_is_none() {
    assert!(!counts(&EARLY.replace("ret i32 0", "ret i32 %i")));
}

#[test]
fn a_loop_that_writes_has_no_counter() {
    let writes = "tail:\n  store atomic i32 1, ptr @y monotonic, align 4\n";
    assert!(!counts(&EARLY.replace("tail:\n", writes)));
    let fence = "tail:\n  fence seq_cst\n";
    assert!(!counts(&EARLY.replace("tail:\n", fence)));
}

/// As clang writes `load(x) > 0 && x.compare_exchange_strong(…)`, and returns.
const ATTEMPT: &str = "\
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %tail ]
  %more = icmp slt i32 %i, 100
  br i1 %more, label %look, label %done
look:
  %read = load atomic i32, ptr @x monotonic, align 4
  %free = icmp sgt i32 %read, 0
  br i1 %free, label %attempt, label %tail
attempt:
  %less = sub i32 %read, 1
  %pair = cmpxchg ptr @x, i32 %read, i32 %less acquire monotonic, align 4
  %success = extractvalue { i32, i1 } %pair, 1
  br i1 %success, label %both, label %failed
failed:
  br label %both
both:
  %byte = zext i1 %success to i8
  %taken = trunc i8 %byte to i1
  br i1 %taken, label %done, label %tail
tail:
  %j = add nsw i32 %i, 1
  br label %head
done:
  ret i32 0
";

#[test]
fn a_compare_exchange_whose_success_ends_the_loop_is_an_attempt() {
    assert!(counts(ATTEMPT));
    assert!(counts(&ATTEMPT.replace("cmpxchg", "cmpxchg weak")));
    let reversed = "br i1 %taken, label %tail, label %done";
    assert!(!counts(
        &ATTEMPT.replace("br i1 %taken, label %done, label %tail", reversed)
    ));
    assert!(!counts(
        &ATTEMPT.replace("zext i1 %success", "zext i1 %free")
    ));
    let other = ATTEMPT.replace("cmpxchg ptr @x", "cmpxchg ptr @y");
    assert!(!counts(&other));
    let exchange = "  %old = atomicrmw xchg ptr @x, i32 1 acquire, align 4\n";
    assert!(!counts(
        &ATTEMPT.replace("attempt:\n", &format!("attempt:\n{exchange}"))
    ));
}

#[test]
fn what_an_attempt_has_read_is_not_used_behind_the_loop() {
    let kept = ATTEMPT
        .replace(
            "head:\n",
            "head:\n  %last = phi i32 [ 0, %entry ], [ %read, %tail ]\n",
        )
        .replace("ret i32 0", "ret i32 %last");
    assert!(!counts(&kept));
}

#[test]
fn a_bound_that_changes_is_none() {
    let (fixed, read) = ("%i, 100", "%i, %most");
    let changing = EARLY
        .replace(fixed, read)
        .replace("  %more", "  %most = load i32, ptr @y\n  %more");
    assert!(!counts(&changing));
    let known = EARLY
        .replace(fixed, read)
        .replace("entry:", "entry:\n  %most = load i32, ptr @y");
    assert!(counts(&known));
}

#[test]
fn a_test_may_decide_by_constants_that_branches_join() {
    // as rustc writes `for _ in 0..100`, with the discriminant of an Option
    let optional = EARLY
        .replace(
            "label %look, label %done\nlook",
            "label %some, label %none\nlook",
        )
        .replace(
            "look:\n",
            "some:\n  br label %next\nnone:\n  br label %next\nnext:\n  \
             %is = phi i64 [ 1, %some ], [ 0, %none ]\n  %bit = trunc i64 %is to i1\n  \
             br i1 %bit, label %look, label %done\nlook:\n",
        );
    assert!(counts(&optional));
    let looks = optional.replace(
        "  %bit =",
        "  %other = load atomic i32, ptr @y monotonic, align 4\n  %bit =",
    );
    assert!(!counts(&looks));
}

#[test]
fn an_address_may_be_computed_in_the_loop() {
    let offset = ATTEMPT
        .replace("entry:\n", "entry:\n  %base = call ptr @malloc(i64 8)\n")
        .replace(
            "look:\n",
            "look:\n  %at = getelementptr i8, ptr %base, i64 4\n",
        )
        .replace("ptr @x", "ptr %at");
    let declared =
        format!("{offset}}}\ndeclare ptr @malloc(i64)\ndefine void @f() {{\n  ret void\n");
    assert!(counts(&declared));
    assert!(!counts(
        &declared.replace("ptr %base, i64 4", "ptr %base, i32 %i")
    ));
}

/// The first counter that is not left out, found one iteration after another.
fn after_each_round(counter: &Counter, test: &CounterTest, now: u64, bound: u64) -> u64 {
    use Predicate::{Sge, Sgt, Sle, Slt};
    let signed = matches!(test.predicate, Sgt | Sge | Slt | Sle);
    let bits = counter.bits;
    let next = |value: u64| mask(value.wrapping_add(counter.step), bits);
    let tested = |value: u64| if test.stepped { next(value) } else { value };
    let number = |value: u64| match signed {
        true => sext(value, bits) as i64,
        false => value as i64,
    };
    let up = sext(counter.step, bits) as i64 > 0;
    let mut value = now;
    loop {
        let at = tested(value);
        let (a, b) = if test.reversed {
            (bound, at)
        } else {
            (at, bound)
        };
        if compare(test.predicate, bits, a, b) != test.holds {
            return value;
        }
        value = next(value);
        // it has wrapped around
        if (number(tested(value)) > number(at)) != up {
            return value;
        }
    }
}

#[test]
fn the_counter_after_all_rounds_is_the_one_after_each() {
    use Predicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let (bits, bound) = (4, Operand::Register(1));
    for predicate in [Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle] {
        for (stepped, reversed, holds, step) in
            (0..8).flat_map(|k| [1, 3, 13, 15].map(|step| (k & 1 > 0, k & 2 > 0, k & 4 > 0, step)))
        {
            let test = CounterTest {
                predicate,
                bits,
                stepped,
                bound,
                reversed,
                holds,
            };
            let counter = Counter {
                register: 0,
                step,
                bits,
                tests: vec![test.clone()],
            };
            for (now, limit) in (0..16).flat_map(|now| (0..16).map(move |limit| (now, limit))) {
                let expected = after_each_round(&counter, &test, now, limit);
                let found = counter.after_rounds(now, |_| limit);
                assert_eq!(found, expected, "{counter:?} from {now} to {limit}");
            }
        }
    }
}

#[test]
fn a_counter_may_be_large() {
    let test = CounterTest {
        predicate: Predicate::Ult,
        bits: 64,
        stepped: false,
        bound: Operand::Const(u64::MAX),
        reversed: false,
        holds: true,
    };
    let counter = Counter {
        register: 0,
        step: 1,
        bits: 64,
        tests: vec![test],
    };
    assert_eq!(counter.after_rounds(1, |_| u64::MAX), u64::MAX);
}
