//! Programs for which a reduction would leave out too much, if it had one condition less. Each is
//! explored by the reference and by the search, with the reductions and without each.
use crate::random_threads::{LIBRARY, TARGET};
use crate::{model, options, rounds, Compared, Comparison, Stack, CHOSEN, MODELS};
use explore::{Acyclic, FaultKind, Options, ProgramSource};
use program::interpreter::Limits;
use program::Program;
use std::fmt::Write;

/// Globals, the bodies of threads, which main starts and joins, and what main does then.
pub fn program(globals: &str, threads: &[&str], end: &str) -> String {
    program_with(globals, "", threads, end)
}

/// As `program`; what main does first.
fn program_with(globals: &str, begin: &str, threads: &[&str], end: &str) -> String {
    let mut text = format!("{TARGET}{LIBRARY}{globals}");
    let (mut starts, mut joins) = (String::new(), String::new());
    for (thread, body) in threads.iter().enumerate() {
        let _ = write!(
            text,
            "@r{thread} = global i32 0, align 4\ndefine ptr @t{thread}(ptr %arg) {{\n{body}\n  \
             ret ptr null\n}}\n"
        );
        let _ = writeln!(starts, "  %h{thread} = alloca i64");
        let _ = writeln!(
            starts,
            "  call i32 @pthread_create(ptr %h{thread}, ptr null, ptr @t{thread}, ptr null)"
        );
        let _ = writeln!(
            joins,
            "  %j{thread} = load i64, ptr %h{thread}\n  \
             call i32 @pthread_join(i64 %j{thread}, ptr null)"
        );
    }
    let _ = write!(
        text,
        "define i32 @main() {{\n{begin}{starts}{joins}{end}\n}}\n"
    );
    text
}

/// What main returns: the result of thread 0.
pub const RESULT: &str = "  %result = load i32, ptr @r0\n  ret i32 %result";

pub fn compare(text: &str) {
    let models = [
        ("sc", Acyclic::ProgramOrder),
        ("rc11", Acyclic::ProgramOrder),
        ("imm", Acyclic::Dependencies),
    ];
    compare_under(&models, 4, text);
}

pub fn compare_under(models: &[(&str, Acyclic)], loops: u32, text: &str) {
    let loaded = models.iter().map(|(name, acyclic)| (*acyclic, model(name)));
    let comparison = Comparison {
        models: loaded.collect(),
        loops,
        seconds: CHOSEN,
    };
    for (number, (name, _)) in models.iter().enumerate() {
        match comparison.compare_text(text, number, &Stack::few()) {
            Compared::Equal { .. } => {}
            Compared::TooLarge => panic!("too large under {name}"),
            Compared::Different { stack, how } => {
                panic!("{} under {name}: {how}\n{text}", stack.name)
            }
        }
    }
}

/// A list is followed: the next read is of another location.
#[test]
fn a_read_of_another_location_is_no_retry() {
    let globals = "@a = global ptr @b, align 8\n@b = global ptr null, align 8\n\
                   @head = global ptr @a, align 8\n";
    let follows = "  br label %next\nnext:\n  %at = phi ptr [ @head, %0 ], [ %to, %next ]\n  \
                   %to = load atomic ptr, ptr %at monotonic, align 8\n  \
                   %end = icmp eq ptr %to, null\n  br i1 %end, label %done, label %next\n\
                   done:\n  store i32 1, ptr @r0";
    let looks = "  load atomic ptr, ptr @b monotonic, align 8\n  \
                 store atomic ptr @a, ptr @head monotonic, align 8";
    let other = "  load atomic ptr, ptr @a monotonic, align 8";
    let text = program(globals, &[follows, looks, other], RESULT);
    compare(&text);
    compare_under(&[("failures", Acyclic::ProgramOrder)], 4, &text);
}

/// The first read is an acquire, and the second one, which is relaxed, may read more.
#[test]
fn a_read_with_another_memory_order_is_no_retry() {
    let globals = "@x = global i32 0, align 4\n@data = global i32 0, align 4\n";
    let retries = "  %first = load atomic i32, ptr @x acquire, align 4\n  br label %again\n\
                   again:\n  %old = phi i32 [ %first, %0 ], [ %read, %again ]\n  \
                   %new = add i32 %old, 1\n  \
                   %pair = cmpxchg ptr @x, i32 %old, i32 %new monotonic monotonic\n  \
                   %read = extractvalue { i32, i1 } %pair, 0\n  \
                   %done = extractvalue { i32, i1 } %pair, 1\n  \
                   br i1 %done, label %end, label %again\n\
                   end:\n  %data = load atomic i32, ptr @data monotonic, align 4\n  \
                   %more = mul i32 %data, 5\n  %all = add i32 %more, %read\n  \
                   store i32 %all, ptr @r0";
    let publishes = "  store atomic i32 1, ptr @data monotonic, align 4\n  \
                     store atomic i32 1, ptr @x release, align 4";
    compare(&program(globals, &[retries, publishes], RESULT));
}

/// The model orders by the first read, and not by the second one, a compare-exchange that fails.
#[test]
fn a_compare_exchange_that_fails_is_no_load_where_the_model_distinguishes_them() {
    let globals = "@x = global i32 0, align 4\n@data = global i32 0, align 4\n";
    let retries = "  %first = load atomic i32, ptr @x monotonic, align 4\n  br label %head\n\
                   head:\n  %old = phi i32 [ %first, %0 ], [ %read, %again ]\n  \
                   %is = icmp eq i32 %old, 1\n  br i1 %is, label %end, label %again\n\
                   again:\n  %pair = cmpxchg ptr @x, i32 %old, i32 7 monotonic monotonic\n  \
                   %read = extractvalue { i32, i1 } %pair, 0\n  \
                   %done = extractvalue { i32, i1 } %pair, 1\n  \
                   br i1 %done, label %end, label %head\n\
                   end:\n  %data = load atomic i32, ptr @data monotonic, align 4\n  \
                   %more = mul i32 %data, 5\n  %all = add i32 %more, %old\n  \
                   store i32 %all, ptr @r0";
    let publishes = "  store atomic i32 1, ptr @data monotonic, align 4\n  \
                     store atomic i32 1, ptr @x monotonic, align 4";
    let text = program(globals, &[retries, publishes], RESULT);
    compare_under(&[("failures", Acyclic::ProgramOrder)], 4, &text);
}

/// The second call waits as the first one might have.
#[test]
fn a_loop_of_another_call_is_no_retry() {
    let globals = "@x = global i32 0, align 4\n\
                   define i32 @waits() {\n  %first = load atomic i32, ptr @x monotonic, align 4\n  \
                   br label %head\n\
                   head:\n  %value = phi i32 [ %first, %0 ], [ %next, %again ]\n  \
                   %waited = phi i32 [ 0, %0 ], [ 1, %again ]\n  \
                   %more = icmp eq i32 %value, 3\n  br i1 %more, label %again, label %done\n\
                   again:\n  %next = load atomic i32, ptr @x monotonic, align 4\n  \
                   br label %head\n\
                   done:\n  ret i32 %waited\n}\n";
    let calls = "  %one = call i32 @waits()\n  %two = call i32 @waits()\n  \
                 %more = mul i32 %one, 2\n  %all = add i32 %more, %two\n  \
                 store i32 %all, ptr @r0";
    let writes = "  store atomic i32 3, ptr @x monotonic, align 4\n  \
                  store atomic i32 0, ptr @x monotonic, align 4";
    compare(&program(globals, &[calls, writes], RESULT));
}

/// The result of the process is what main has read first.
#[test]
fn a_loop_of_a_process_that_ends_with_another_result_is_no_retry() {
    let globals = "@x = global i32 0, align 4\n@seen = global i32 0, align 4\n\
                   declare i32 @__cxa_thread_atexit(ptr, ptr, ptr)\n\
                   define void @waits(ptr %arg) {\n  %first = load i32, ptr @seen\n  br label %head\n\
                   head:\n  %value = phi i32 [ %first, %0 ], [ %next, %again ]\n  \
                   %done = icmp eq i32 %value, 2\n  br i1 %done, label %end, label %again\n\
                   again:\n  %next = load atomic i32, ptr @x monotonic, align 4\n  \
                   store i32 %next, ptr @seen\n  br label %head\n\
                   end:\n  ret void\n}\n";
    let writes = "  store atomic i32 1, ptr @x monotonic, align 4\n  \
                  store atomic i32 2, ptr @x monotonic, align 4";
    let text = format!(
        "{TARGET}{LIBRARY}{globals}define ptr @t(ptr %arg) {{\n{writes}\n  ret ptr null\n}}\n\
         define i32 @main() {{\n  %h = alloca i64\n  call i32 @__cxa_thread_atexit(ptr @waits, ptr null, ptr null)\n  \
         call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr null)\n  \
         %value = load atomic i32, ptr @x monotonic, align 4\n  store i32 %value, ptr @seen\n  \
         ret i32 %value\n}}\n"
    );
    compare(&text);
}

/// The same function runs twice when the process ends, and waits the second time.
#[test]
fn a_loop_of_another_handler_is_no_retry() {
    let globals = "@x = global i32 0, align 4\n@waited = global i32 0, align 4\n\
                   declare i32 @__cxa_thread_atexit(ptr, ptr, ptr)\n\
                   define void @waits(ptr %arg) {\n  %first = load atomic i32, ptr @x monotonic, align 4\n  \
                   br label %head\n\
                   head:\n  %value = phi i32 [ %first, %0 ], [ %next, %again ]\n  \
                   %waits = phi i32 [ 0, %0 ], [ 1, %again ]\n  \
                   %more = icmp eq i32 %value, 3\n  br i1 %more, label %again, label %done\n\
                   again:\n  %next = load atomic i32, ptr @x monotonic, align 4\n  \
                   br label %head\n\
                   done:\n  %old = load i32, ptr @waited\n  %twice = mul i32 %old, 2\n  \
                   %new = add i32 %twice, %waits\n  store i32 %new, ptr @waited\n  ret void\n}\n\
                   define void @checks(ptr %arg) {\n  %all = load i32, ptr @waited\n  \
                   %second = icmp eq i32 %all, 1\n  br i1 %second, label %fails, label %end\n\
                   fails:\n  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)\n  \
                   unreachable\nend:\n  ret void\n}\n";
    let writes = "  store atomic i32 3, ptr @x monotonic, align 4\n  \
                  store atomic i32 0, ptr @x monotonic, align 4";
    let text = format!(
        "{TARGET}{LIBRARY}{globals}define ptr @t(ptr %arg) {{\n{writes}\n  ret ptr null\n}}\n\
         define i32 @main() {{\n  %h = alloca i64\n  call i32 @__cxa_thread_atexit(ptr @checks, ptr null, ptr null)\n  \
         call i32 @__cxa_thread_atexit(ptr @waits, ptr null, ptr null)\n  call i32 @__cxa_thread_atexit(ptr @waits, ptr null, ptr null)\n  \
         call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr null)\n  ret i32 0\n}}\n"
    );
    compare(&text);
}

/// A reader announces itself while there is a writer, and takes that back in some way. What it keeps is
/// returned. What main does first.
fn compare_reader_with(globals: &str, begin: &str, [takes_back, other]: [&str; 2], end: &str) {
    let globals = format!("@l = global i32 64, align 4\n@kept = global i32 0, align 4\n{globals}");
    let reads = format!(
        "  br label %head\nhead:\n  %old = atomicrmw add ptr @l, i32 1 monotonic\n  \
         %bit = and i32 %old, 64\n  %writes = icmp ne i32 %bit, 0\n  \
         br i1 %writes, label %undo, label %done\nundo:\n{takes_back}\ndone:\n  \
         %result = load i32, ptr @kept\n  store i32 %result, ptr @r0"
    );
    let writes = "  atomicrmw sub ptr @l, i32 64 monotonic";
    let text = program_with(&globals, begin, &[&reads, writes, other], end);
    let models = ["sc", "rc20"].map(|name| (name, Acyclic::ProgramOrder));
    compare_under(&models, 2, &text);
}

fn compare_reader(globals: &str, takes_back: &str, other: &str, end: &str) {
    compare_reader_with(globals, "", [takes_back, other], end);
}

const TAKES_BACK: &str = "  atomicrmw sub ptr @l, i32 1 monotonic\n  br label %head";

#[test]
fn a_round_that_subtracts_elsewhere_or_another_number_is_not_undone() {
    let subtracts =
        |at, number| format!("  atomicrmw sub ptr @{at}, i32 {number} monotonic\n  br label %head");
    let end = |at| format!("  %end = load i32, ptr @{at}\n  ret i32 %end");
    let globals = "@k = global i32 9, align 4\n";
    let shares = "  atomicrmw add ptr @k, i32 0 monotonic";
    compare_reader(globals, &subtracts("k", 1), shares, &end("k"));
    compare_reader("", &subtracts("l", 2), "", &end("l"));
}

/// The writer may have left when the reader subtracts.
#[test]
fn a_round_that_uses_what_it_subtracts_from_is_not_undone() {
    let keeps = "  %back = atomicrmw sub ptr @l, i32 1 monotonic\n  \
                 %still = and i32 %back, 64\n  %kept = xor i32 %still, 64\n  \
                 store i32 %kept, ptr @kept\n  br label %head";
    compare_reader("", keeps, "", RESULT);
}

/// The other thread adds meanwhile, and the round resets that too.
#[test]
fn a_round_that_ends_with_another_operation_is_not_undone() {
    let resets = "  atomicrmw and ptr @l, i32 64 monotonic\n  br label %head";
    let adds = "  atomicrmw or ptr @l, i32 2 monotonic";
    compare_reader(
        "",
        resets,
        adds,
        "  %end = load i32, ptr @l\n  ret i32 %end",
    );
}

/// A thread returns the number, or exchanges it, while others are within a round.
#[test]
fn a_thread_that_sees_the_number_shows_the_rounds() {
    let exchanges = "  %seen = atomicrmw xchg ptr @l, i32 0 monotonic\n  store i32 %seen, ptr @r2";
    let end = "  %seen = load i32, ptr @r2\n  ret i32 %seen";
    compare_reader("", TAKES_BACK, exchanges, end);
    let returns = "define ptr @returns(ptr %arg) {\n  \
                   %seen = load atomic i32, ptr @l monotonic, align 4\n  \
                   %wide = zext i32 %seen to i64\n  %result = inttoptr i64 %wide to ptr\n  \
                   ret ptr %result\n}\n";
    let begin = "  %g = alloca i64\n  %r = alloca i64\n  \
                 call i32 @pthread_create(ptr %g, ptr null, ptr @returns, ptr null)\n";
    let joins = "  %i = load i64, ptr %g\n  call i32 @pthread_join(i64 %i, ptr %r)\n  \
                 %seen = load i64, ptr %r\n  %result = trunc i64 %seen to i32\n  \
                 ret i32 %result";
    compare_reader_with(returns, begin, [TAKES_BACK, ""], joins);
}

/// The addition releases what comes before it, and the thread then goes another way, without an end.
#[test]
fn a_round_after_which_a_thread_does_something_else_is_not_undone() {
    let globals = "@l = global i32 64, align 4\n@x = global i32 0, align 4\n\
                   @data = global i32 0, align 4\n";
    let reads = "  store i32 1, ptr @data\n  \
                 %old = atomicrmw add ptr @l, i32 1 release\n  %bit = and i32 %old, 64\n  \
                 %writes = icmp ne i32 %bit, 0\n  br i1 %writes, label %undo, label %done\n\
                 undo:\n  atomicrmw sub ptr @l, i32 1 monotonic\n  br label %wait\n\
                 wait:\n  %now = load atomic i32, ptr @l monotonic, align 4\n  \
                 %still = and i32 %now, 64\n  %taken = icmp ne i32 %still, 0\n  \
                 br i1 %taken, label %wait, label %free\n\
                 free:\n  store atomic i32 1, ptr @x monotonic, align 4\n  br label %hang\n\
                 hang:\n  %more = load atomic i32, ptr @l monotonic, align 4\n  \
                 %ever = icmp eq i32 %more, 128\n  br i1 %ever, label %done, label %hang\ndone:";
    let looks = "  %x = load atomic i32, ptr @x monotonic, align 4\n  \
                 %set = icmp eq i32 %x, 1\n  br i1 %set, label %look, label %end\n\
                 look:\n  %l = load atomic i32, ptr @l acquire, align 4\n  \
                 %none = icmp ult i32 %l, 64\n  br i1 %none, label %read, label %end\n\
                 read:\n  %data = load i32, ptr @data\n  store i32 %data, ptr @r2\n  \
                 br label %end\nend:";
    let writes = "  atomicrmw sub ptr @l, i32 64 monotonic";
    let end = "  %seen = load i32, ptr @r2\n  ret i32 %seen";
    let text = program(globals, &[reads, writes, looks], end);
    compare_under(&[("rc20", Acyclic::ProgramOrder)], 2, &text);
}

/// A thread changes the number while there is a writer. It adds for good if it comes first, and undoes
/// that otherwise; or sets the bit in which a round adds.
#[test]
fn a_thread_that_changes_the_number_by_another_amount_shows_the_rounds() {
    let globals = "@l = global i32 64, align 4\n@done = global i32 0, align 4\n";
    let reads = format!(
        "  br label %head\nhead:\n  %old = atomicrmw add ptr @l, i32 1 monotonic\n  \
         %bit = and i32 %old, 64\n  %writes = icmp ne i32 %bit, 0\n  \
         br i1 %writes, label %undo, label %done\nundo:\n{TAKES_BACK}\ndone:"
    );
    let undoes = "  %old = atomicrmw add ptr @l, i32 1 monotonic\n  \
                  %second = icmp eq i32 %old, 65\n  br i1 %second, label %undo, label %done\n\
                  undo:\n  atomicrmw sub ptr @l, i32 1 monotonic\n  br label %done\n\
                  done:\n  load atomic i32, ptr @l monotonic, align 4";
    let leaves = "  br label %head\nhead:\n  \
                  %come = load atomic i32, ptr @done monotonic, align 4\n  \
                  %yet = icmp eq i32 %come, 0\n  br i1 %yet, label %head, label %leave\n\
                  leave:\n  atomicrmw sub ptr @l, i32 64 monotonic";
    for changes in [undoes, "  atomicrmw or ptr @l, i32 1 monotonic"] {
        let comes = format!("{changes}\n  store atomic i32 1, ptr @done monotonic, align 4");
        let end = "  %end = load i32, ptr @l\n  ret i32 %end";
        let text = program(globals, &[&reads, &comes, leaves], end);
        let models = ["sc", "rc20"].map(|name| (name, Acyclic::ProgramOrder));
        compare_under(&models, 1, &text);
    }
}

const BARRIERS: &str = "\
@a = global [32 x i8] zeroinitializer, align 8
@b = global [32 x i8] zeroinitializer, align 8
declare i32 @pthread_barrier_init(ptr, ptr, i32)
declare i32 @pthread_barrier_wait(ptr)
";
const BEGIN: &str = "  call i32 @pthread_barrier_init(ptr @a, ptr null, i32 2)\n  \
                     call i32 @pthread_barrier_init(ptr @b, ptr null, i32 2)\n";

/// The rounds of a barrier are those of its own.
#[test]
fn a_thread_meets_each_of_two_others() {
    let wait = |at| format!("  call i32 @pthread_barrier_wait(ptr @{at})\n");
    let both = wait("a") + &wait("b");
    let text = program_with(
        BARRIERS,
        BEGIN,
        &[&both, &wait("a"), &wait("b")],
        "  ret i32 0",
    );
    compare_under(&[("sc", Acyclic::ProgramOrder)], 2, &text);
}

/// Which of the threads came last is looked at, of the second round alone.
#[test]
fn the_last_to_arrive_is_any_thread() {
    let wait = "  call i32 @pthread_barrier_wait(ptr @a)\n";
    let looks = format!(
        "{wait}  %last = call i32 @pthread_barrier_wait(ptr @a)\n  \
         store i32 %last, ptr @r0"
    );
    let waits = wait.repeat(2);
    let text = program_with(BARRIERS, BEGIN, &[&looks, &waits], RESULT);
    compare_under(&[("sc", Acyclic::ProgramOrder)], 2, &text);
}

/// Which attempt succeeds is counted, so that each is in another state.
#[test]
fn a_weak_exchange_in_another_state_fails_again() {
    let globals = "@x = global i32 0, align 4\n";
    let tries = "  br label %again\n\
                 again:\n  %count = phi i32 [ 0, %0 ], [ %more, %failed ]\n  \
                 %pair = cmpxchg weak ptr @x, i32 0, i32 1 monotonic monotonic\n  \
                 %ok = extractvalue { i32, i1 } %pair, 1\n  \
                 br i1 %ok, label %done, label %failed\n\
                 failed:\n  %more = add i32 %count, 1\n  \
                 %few = icmp ult i32 %more, 3\n  br i1 %few, label %again, label %done\n\
                 done:\n  %failures = phi i32 [ %count, %again ], [ %more, %failed ]\n  \
                 store i32 %failures, ptr @r0";
    let looks = "  load atomic i32, ptr @x monotonic, align 4";
    compare(&program(globals, &[tries, looks], RESULT));
}

/// A thread comes back to the same state with a value that depends on another read, which need not wait
/// for what the first one waits for.
#[test]
fn a_round_that_leaves_the_values_as_they_are_changes_what_they_depend_on() {
    let globals = "@flag = global i32 0, align 4\n@x = global i32 0, align 4\n\
                   @y = global i32 0, align 4\n@z = global i32 0, align 4\n";
    let begins = "  %i = load atomic i32, ptr @flag monotonic, align 4\n  \
                  %none = and i32 %i, 0\n  %there = getelementptr i32, ptr @x, i32 %none\n  \
                  %first = load atomic i32, ptr %there monotonic, align 4\n  \
                  br label %again\n\
                  again:\n  %v = phi i32 [ %first, %0 ], [ %next, %round ]\n";
    let waits = "  %z = load atomic i32, ptr @z monotonic, align 4\n  \
                 %over = icmp ne i32 %z, 0\n  br i1 %over, label %done, label %round\n\
                 round:\n  %next = load atomic i32, ptr @x monotonic, align 4\n  \
                 br label %again\n\
                 done:\n";
    let tries = "  %pair = cmpxchg weak ptr @x, i32 %v, i32 0 monotonic monotonic\n  \
                 %next = extractvalue { i32, i1 } %pair, 0\n  \
                 %ok = extractvalue { i32, i1 } %pair, 1\n  \
                 br i1 %ok, label %done, label %round\n\
                 round:\n  br label %again\n\
                 done:\n";
    let ends = "  %index = and i32 %v, 0\n  %data = getelementptr i32, ptr @y, i32 %index\n  \
                %read = load atomic i32, ptr %data monotonic, align 4\n  \
                %i2 = shl i32 %i, 1\n  %both = or i32 %i2, %read\n  \
                store i32 %both, ptr @r0";
    let publishes = "  store atomic i32 1, ptr @y monotonic, align 4\n  \
                     store atomic i32 1, ptr @flag release, align 4";
    let looks = "  load atomic i32, ptr @x monotonic, align 4";
    let wakes = "  store atomic i32 1, ptr @z monotonic, align 4";
    for (round, third) in [(waits, wakes), (tries, looks)] {
        let reads = format!("{begins}{round}{ends}");
        compare_under(
            &MODELS,
            2,
            &program(globals, &[&reads, publishes, third], RESULT),
        );
    }
}

/// Whether a thread waits depends on what it has read, which nothing else does.
#[test]
fn threads_that_may_wait_do_so_alike_or_not() {
    let begin = "  br label %head\nhead:\n  %old = phi i32 [ 0, %0 ], [ %read, %head ]\n  \
                 %read = load atomic i32, ptr @x monotonic, align 4\n  \
                 %flag = load atomic i32, ptr @y monotonic, align 4\n  \
                 %more = icmp eq i32 %flag, 0\n  br i1 %more, label %head, label %done\n\
                 done:\n  %is = icmp eq i32 %old, 1\n  \
                 br i1 %is, label %count, label %end\n\
                 count:\n  atomicrmw add ptr @z, i32 1 monotonic\n  br label %end\nend:";
    let text = format!(
        "{TARGET}{LIBRARY}@x = global i32 0, align 4\n@y = global i32 0, align 4\n\
         @z = global i32 0, align 4\n\
         define ptr @t(ptr %unused) {{\n{begin}\n  ret ptr null\n}}\n\
         define i32 @main() {{\n  %g = alloca i64\n  %h = alloca i64\n  \
         call i32 @pthread_create(ptr %g, ptr null, ptr @t, ptr null)\n  \
         call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr null)\n  \
         store atomic i32 1, ptr @x monotonic, align 4\n  \
         store atomic i32 1, ptr @y monotonic, align 4\n  \
         %i = load i64, ptr %g\n  call i32 @pthread_join(i64 %i, ptr null)\n  \
         %j = load i64, ptr %h\n  call i32 @pthread_join(i64 %j, ptr null)\n  \
         %result = load i32, ptr @z\n  ret i32 %result\n}}\n"
    );
    for name in ["imm", "riscv-programs"] {
        compare_under(&[(name, Acyclic::Dependencies)], 1, &text);
        compare_under(&[(name, Acyclic::Dependencies)], 2, &text);
    }
}

/// Main looks at what the first of two threads that behave alike returns.
#[test]
fn the_results_of_threads_distinguish_them() {
    let text = format!(
        "{TARGET}{LIBRARY}@x = global i64 0, align 8\n\
         define ptr @t(ptr %arg) {{\n  %old = atomicrmw add ptr @x, i64 1 monotonic\n  \
         %result = inttoptr i64 %old to ptr\n  ret ptr %result\n}}\n\
         define i32 @main() {{\n  %g = alloca i64\n  %h = alloca i64\n  %r = alloca i64\n  \
         call i32 @pthread_create(ptr %g, ptr null, ptr @t, ptr null)\n  \
         call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr null)\n  \
         %i = load i64, ptr %g\n  %j = load i64, ptr %h\n  \
         call i32 @pthread_join(i64 %i, ptr %r)\n  %first = load i64, ptr %r\n  \
         call i32 @pthread_join(i64 %j, ptr %r)\n  %second = load i64, ptr %r\n  \
         %less = icmp ult i64 %first, %second\n  %result = zext i1 %less to i32\n  \
         ret i32 %result\n}}\n"
    );
    compare(&text);
}

/// Between the two reads, the thread has written what main returns.
#[test]
fn a_round_with_a_write_is_no_retry() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n";
    let writes = "  %first = load atomic i32, ptr @x monotonic, align 4\n  br label %head\n\
                  head:\n  %value = phi i32 [ %first, %0 ], [ %next, %again ]\n  \
                  %done = icmp eq i32 %value, 2\n  br i1 %done, label %end, label %again\n\
                  again:\n  store atomic i32 1, ptr @y monotonic, align 4\n  \
                  %next = load atomic i32, ptr @x monotonic, align 4\n  br label %head\nend:";
    let stores = "  store atomic i32 2, ptr @x monotonic, align 4";
    let end = "  %end = load i32, ptr @y\n  ret i32 %end";
    compare(&program(globals, &[writes, stores], end));
}

/// The value that it has read is gone when the thread is back at its exchange, which fails for a reason.
#[test]
fn an_exchange_that_fails_for_a_reason_waits() {
    let globals = "@x = global i32 1, align 4\n";
    let tries = "  br label %head\n\
                 head:\n  %value = phi i32 [ 0, %0 ], [ %read, %try ]\n  \
                 %odd = icmp eq i32 %value, 9\n  br i1 %odd, label %done, label %try\n\
                 try:\n  %pair = cmpxchg weak ptr @x, i32 0, i32 5 monotonic monotonic\n  \
                 %read = extractvalue { i32, i1 } %pair, 0\n  \
                 %ok = extractvalue { i32, i1 } %pair, 1\n  \
                 br i1 %ok, label %done, label %head\ndone:";
    let looks = "  load atomic i32, ptr @x monotonic, align 4";
    compare(&program(globals, &[tries, looks], RESULT));
}

/// How often a value was read is added up, of reads whose values are not known yet.
#[test]
fn a_weak_exchange_after_a_read_that_is_postponed_fails_again() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n";
    let adds = "  br label %again\n\
                again:\n  %sum = phi i32 [ 0, %0 ], [ %more, %again ]\n  \
                %read = load atomic i32, ptr @y monotonic, align 4\n  \
                %more = add i32 %sum, %read\n  \
                %pair = cmpxchg weak ptr @x, i32 0, i32 1 monotonic monotonic\n  \
                %ok = extractvalue { i32, i1 } %pair, 1\n  \
                br i1 %ok, label %done, label %again\n\
                done:\n  store i32 %more, ptr @r0";
    let writes = "  store atomic i32 1, ptr @y monotonic, align 4";
    compare(&program(globals, &[adds, writes], RESULT));
    // what is read both times may depend on the success
    let globals = format!("{globals}@z = global i32 0, align 4\n");
    let adds = format!("{adds}\n  store atomic i32 1, ptr @z monotonic, align 4");
    let writes = format!(
        "  %done = load atomic i32, ptr @z monotonic, align 4\n  \
         %is = icmp eq i32 %done, 1\n  br i1 %is, label %then, label %end\n\
         then:\n{writes}\n  br label %end\nend:"
    );
    let text = program(&globals, &[&adds, &writes], RESULT);
    compare_under(&[("imm", Acyclic::Dependencies)], 2, &text);
}

/// A thread that has read an older value may loop for ever without looking again.
#[test]
fn a_loop_without_a_read_does_not_wait_for_the_read_before_it() {
    let globals = "@x = global i32 0, align 4\n";
    let hangs = "  %read = load atomic i32, ptr @x monotonic, align 4\n  \
                 %is = icmp eq i32 %read, 0\n  br i1 %is, label %loop, label %end\n\
                 loop:\n  br label %loop\nend:";
    let writes = "  store atomic i32 1, ptr @x monotonic, align 4";
    compare(&program(globals, &[hangs, writes], "  ret i32 0"));
}

/// The last write is not the one because of which the thread waits.
#[test]
fn a_thread_waits_for_what_was_overwritten_twice() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n";
    let waits = "  br label %head\n\
                 head:\n  %read = load atomic i32, ptr @x monotonic, align 4\n  \
                 %done = icmp eq i32 %read, 5\n  br i1 %done, label %end, label %head\nend:";
    let writes = "  store atomic i32 5, ptr @x monotonic, align 4\n  \
                  store atomic i32 1, ptr @y release, align 4";
    let overwrites = "  %written = load atomic i32, ptr @y acquire, align 4\n  \
                      %is = icmp eq i32 %written, 1\n  br i1 %is, label %then, label %end\n\
                      then:\n  store atomic i32 1, ptr @x monotonic, align 4\n  \
                      store atomic i32 2, ptr @x monotonic, align 4\n  br label %end\nend:";
    compare(&program(
        globals,
        &[waits, writes, overwrites],
        "  ret i32 0",
    ));
}

/// A plain read of a round in vain races with a write that comes after the loop.
#[test]
fn a_read_of_a_round_in_vain_may_race() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n\
                   @p = global i32 0, align 4\n";
    let waits = "  br label %head\n\
                 head:\n  %read = load atomic i32, ptr @x monotonic, align 4\n  \
                 %done = icmp eq i32 %read, 1\n  br i1 %done, label %end, label %again\n\
                 again:\n  %seen = load i32, ptr @p\n  br label %head\n\
                 end:\n  store atomic i32 1, ptr @y monotonic, align 4";
    let writes = "  store atomic i32 1, ptr @x monotonic, align 4\n  \
                  %read = load atomic i32, ptr @y monotonic, align 4\n  \
                  %is = icmp eq i32 %read, 1\n  br i1 %is, label %writes, label %end\n\
                  writes:\n  store i32 1, ptr @p\n  br label %end\nend:";
    let models = [
        ("rc11", Acyclic::ProgramOrder),
        ("rc20", Acyclic::ProgramOrder),
    ];
    for threads in [[waits, writes], [writes, waits]] {
        compare_under(&models, 2, &program(globals, &threads, "  ret i32 0"));
    }
}

/// So does a write of a round in vain: with an access that comes after the loop, or with one before what
/// ends the wait.
#[test]
fn a_write_of_a_round_in_vain_may_race() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n\
                   @p = global i32 0, align 4\n@lock = global i32 1, align 4\n";
    let marks = "  br label %head\n\
                 head:\n  %read = load atomic i32, ptr @x monotonic, align 4\n  \
                 %done = icmp eq i32 %read, 1\n  br i1 %done, label %end, label %again\n\
                 again:\n  %old = atomicrmw or ptr @p, i32 1 monotonic\n  br label %head\n\
                 end:\n  store atomic i32 1, ptr @y monotonic, align 4";
    let takes = "  br label %head\n\
                 head:\n  %old = atomicrmw xchg ptr @lock, i32 1 acquire\n  \
                 %taken = icmp eq i32 %old, 1\n  br i1 %taken, label %head, label %end\nend:";
    let gives = "  %seen = load i32, ptr @lock\n  \
                 store atomic i32 0, ptr @lock release, align 4";
    let after = |access: &str| {
        format!(
            "  store atomic i32 1, ptr @x monotonic, align 4\n  \
             %read = load atomic i32, ptr @y monotonic, align 4\n  \
             %is = icmp eq i32 %read, 1\n  br i1 %is, label %then, label %end\n\
             then:\n  {access}\n  br label %end\nend:"
        )
    };
    let (reads, writes) = (
        after("%seen = load i32, ptr @p"),
        after("store i32 1, ptr @p"),
    );
    let models = [
        ("rc11", Acyclic::ProgramOrder),
        ("rc20", Acyclic::ProgramOrder),
    ];
    for threads in [[marks, &reads], [&writes, marks], [takes, gives]] {
        compare_under(&models, 2, &program(globals, &threads, "  ret i32 0"));
    }
}

/// The other thread finds the mutex locked by a round in vain, and says so.
#[test]
fn a_round_in_vain_that_locks_is_noticed_by_trylock() {
    let globals = "@m = global [40 x i8] zeroinitializer, align 8\n@x = global i32 0, align 4\n\
                   @y = global i32 0, align 4\n\
                   declare i32 @pthread_mutex_lock(ptr)\ndeclare i32 @pthread_mutex_trylock(ptr)\n\
                   declare i32 @pthread_mutex_unlock(ptr)\n";
    let waits = "  br label %head\n\
                 head:\n  call i32 @pthread_mutex_lock(ptr @m)\n  \
                 %read = load i32, ptr @x\n  call i32 @pthread_mutex_unlock(ptr @m)\n  \
                 %done = icmp eq i32 %read, 1\n  br i1 %done, label %end, label %head\nend:";
    let tries = "  %busy = call i32 @pthread_mutex_trylock(ptr @m)\n  \
                 %free = icmp eq i32 %busy, 0\n  br i1 %free, label %frees, label %end\n\
                 frees:\n  call i32 @pthread_mutex_unlock(ptr @m)\n  br label %end\n\
                 end:\n  %seen = phi i32 [ 1, %0 ], [ 2, %frees ]\n  store i32 %seen, ptr @y\n  \
                 call i32 @pthread_mutex_lock(ptr @m)\n  store i32 1, ptr @x\n  \
                 call i32 @pthread_mutex_unlock(ptr @m)";
    let end = "  %end = load i32, ptr @y\n  ret i32 %end";
    compare_under(
        &[("sc", Acyclic::ProgramOrder)],
        3,
        &program(globals, &[waits, tries], end),
    );
}

/// Main meets a thread at a barrier, joins it, and then uses the barrier for itself alone.
#[test]
fn a_barrier_may_be_for_another_number_of_threads_later() {
    let init = |count| format!("  call i32 @pthread_barrier_init(ptr @a, ptr null, i32 {count})\n");
    let wait = "  call i32 @pthread_barrier_wait(ptr @a)\n";
    let (two, one) = (init(2), init(1));
    let text = format!(
        "{TARGET}{LIBRARY}{BARRIERS}declare i32 @pthread_barrier_destroy(ptr)\n\
         define ptr @t(ptr %arg) {{\n{wait}  ret ptr null\n}}\n\
         define i32 @main() {{\n  %h = alloca i64\n{two}  \
         call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr null)\n{wait}  \
         %j = load i64, ptr %h\n  call i32 @pthread_join(i64 %j, ptr null)\n  \
         call i32 @pthread_barrier_destroy(ptr @a)\n{one}{wait}  ret i32 0\n}}\n"
    );
    compare_under(&[("sc", Acyclic::ProgramOrder)], 2, &text);
}

/// A thread is stopped by the limit of rounds, and would never leave its loop, or would.
#[test]
fn a_loop_that_changes_memory_for_ever_hangs_and_one_that_counts_does_not() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n\
                   @step = global i32 1, align 4\n";
    let silent = |operation: &str, last: u32| {
        format!(
            "  %own = alloca i32\n  store i32 0, ptr %own\n  \
             %step = load atomic i32, ptr @step monotonic, align 4\n  br label %head\n\
             head:\n  %old = load i32, ptr %own\n  %new = {operation} i32 %old, %step\n  \
             store i32 %new, ptr %own\n  %done = icmp eq i32 %new, {last}\n  \
             br i1 %done, label %end, label %head\nend:"
        )
    };
    // what ends the loop is read, and in the thousandth round it ends in any case
    let counts = "  br label %head\n\
                  head:\n  %count = phi i32 [ 0, %0 ], [ %more, %head ]\n  \
                  %odd = and i32 %count, 1\n  store atomic i32 %odd, ptr @y monotonic, align 4\n  \
                  %read = load atomic i32, ptr @x monotonic, align 4\n  \
                  %more = add i32 %count, 1\n  %sum = add i32 %more, %read\n  \
                  %done = icmp eq i32 %sum, 1000\n  br i1 %done, label %end, label %head\nend:";
    let alternates = "  br label %head\n\
                      head:\n  %old = atomicrmw xor ptr @y, i32 1 monotonic\n  \
                      %read = load atomic i32, ptr @x monotonic, align 4\n  \
                      %done = icmp eq i32 %read, 1\n  br i1 %done, label %end, label %head\nend:";
    let looks = "  load atomic i32, ptr @x monotonic, align 4\n  \
                 load atomic i32, ptr @step monotonic, align 4";
    for (body, hangs) in [
        (silent("xor", 2), true),
        (silent("add", 2_000_000_000), false),
        (counts.to_owned(), false),
        (alternates.to_owned(), true),
    ] {
        let text = program(globals, &[&body, looks], "  ret i32 0");
        let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}"));
        for (name, acyclic) in MODELS {
            let limits = Limits {
                instructions: 30_000,
                ..rounds(3)
            };
            let mut source = ProgramSource::new(&program, limits);
            let found = source.explore(&model(name), &options(acyclic, 1_000, 60));
            let found = found.unwrap_or_else(|error| panic!("{error}"));
            let kinds: Vec<_> = found
                .violations
                .iter()
                .map(|seen| seen.fault.kind)
                .collect();
            let expected = [FaultKind::Hang];
            assert_eq!(
                kinds,
                expected[usize::from(!hangs)..],
                "under {name}: {body}"
            );
        }
    }
}

/// Under this model, of which nothing is stated, a thread has to read twice before it writes again: the
/// assertion fails after a round in vain alone.
#[test]
fn rounds_are_explored_where_a_model_may_need_their_reads() {
    let globals = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n\
                   @z = global i32 0, align 4\n";
    let waits = "  store atomic i32 1, ptr @y monotonic, align 4\n  br label %head\n\
                 head:\n  %seen = load atomic i32, ptr @x monotonic, align 4\n  \
                 %done = icmp eq i32 %seen, 1\n  br i1 %done, label %end, label %head\n\
                 end:\n  store atomic i32 1, ptr @z monotonic, align 4";
    let stores = "  store atomic i32 1, ptr @x monotonic, align 4";
    let checks = "  load atomic i32, ptr @y monotonic, align 4\n  \
                  %last = load atomic i32, ptr @z monotonic, align 4\n  \
                  %bad = icmp eq i32 %last, 1\n  br i1 %bad, label %fails, label %end\n\
                  fails:\n  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)\n  \
                  unreachable\nend:\n  ret i32 0";
    let text = program(globals, &[waits, stores], checks);
    let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}"));
    let options = Options {
        acyclic: None,
        ..options(Acyclic::ProgramOrder, 1_000, CHOSEN)
    };
    let mut source = ProgramSource::new(&program, rounds(4));
    let found = source.explore(&model("reads_between"), &options);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let kinds: Vec<_> = found
        .violations
        .iter()
        .map(|seen| seen.fault.kind)
        .collect();
    assert_eq!(kinds, [FaultKind::Assertion]);
}

/// The thread that wakes looks at how many have slept.
#[test]
fn a_futex_says_how_many_threads_it_has_woken() {
    let globals = "@x = global i32 0, align 4\ndeclare i32 @weakspot_begin_sleep(ptr, i32)\n\
                   declare void @weakspot_discard()\ndeclare void @weakspot_sleep(ptr, i32)\n\
                   declare i32 @weakspot_wake(ptr, i32, i32)\n";
    let wakes = "  store atomic i32 1, ptr @x monotonic, align 4\n  \
                 %count = call i32 @weakspot_wake(ptr @x, i32 9, i32 -1)\n  \
                 store i32 %count, ptr @r0";
    let sleeps = "  %entered = call i32 @weakspot_begin_sleep(ptr @x, i32 -1)\n  \
                  %enters = icmp ne i32 %entered, 0\n  \
                  br i1 %enters, label %compares, label %end\n\
                  compares:\n  %value = load atomic i32, ptr @x monotonic, align 4\n  \
                  %same = icmp eq i32 %value, 0\n  br i1 %same, label %waits, label %never\n\
                  never:\n  call void @weakspot_discard()\n  unreachable\n\
                  waits:\n  call void @weakspot_sleep(ptr @x, i32 0)\n  br label %end\nend:";
    compare(&program(globals, &[wakes, sleeps], RESULT));
}

/// What the loop has read is needed for an address, or not: the first read is for one, the second is not.
#[test]
fn a_retry_does_not_depend_on_what_it_reads_in_the_end() {
    let globals = "@x = global i32 0, align 4\n@a = global [2 x i32] zeroinitializer, align 4\n";
    let retries = "  %first = load atomic i32, ptr @x monotonic, align 4\n  \
                   %index = lshr i32 %first, 8\n  br label %head\n\
                   head:\n  %old = phi i32 [ %first, %0 ], [ %read, %head ]\n  \
                   %pair = cmpxchg ptr @x, i32 %old, i32 7 monotonic monotonic\n  \
                   %read = extractvalue { i32, i1 } %pair, 0\n  \
                   %ok = extractvalue { i32, i1 } %pair, 1\n  \
                   br i1 %ok, label %done, label %head\n\
                   done:\n  %at = getelementptr i32, ptr @a, i32 %index\n  \
                   %data = load atomic i32, ptr %at monotonic, align 4\n  \
                   %more = mul i32 %data, 10\n  %all = add i32 %more, %read\n  \
                   store i32 %all, ptr @r0";
    let publishes = "  store atomic i32 1, ptr @a monotonic, align 4\n  \
                     store atomic i32 1, ptr @x release, align 4";
    let by_dependencies = |(_, acyclic): &(&str, Acyclic)| *acyclic == Acyclic::Dependencies;
    let models: Vec<_> = MODELS.into_iter().filter(by_dependencies).collect();
    compare_under(&models, 2, &program(globals, &[retries, publishes], RESULT));
}

/// The first read of a thread that is woken races, and no later one does.
#[test]
fn a_thread_that_is_woken_has_read_before_it_slept() {
    let waits = "  br label %head\nhead:\n  %value = load atomic i32, ptr @x acquire, align 4\n  \
                 %same = icmp eq i32 %value, 0\n  br i1 %same, label %enters, label %next\n\
                 enters:\n  %entered = call i32 @weakspot_begin_sleep(ptr @x)\n  \
                 %again = load atomic i32, ptr @x monotonic, align 4\n  \
                 %still = icmp eq i32 %again, 0\n  br i1 %still, label %sleeps, label %never\n\
                 never:\n  call void @weakspot_discard()\n  unreachable\n\
                 sleeps:\n  call void @weakspot_sleep(ptr @x, i32 1)\n  br label %head\nnext:";
    let wakes = "  store i32 0, ptr @x, align 4\n  store atomic i32 1, ptr @x release, align 4\n  \
                 %woken = call i32 @weakspot_wake(ptr @x, i32 -1, i32 -1)";
    let globals = "@x = global i32 0, align 4\ndeclare i32 @weakspot_begin_sleep(ptr)\n\
                   declare void @weakspot_discard()\ndeclare void @weakspot_sleep(ptr, i32)\n\
                   declare i32 @weakspot_wake(ptr, i32, i32)\n";
    let models = [("rc11", Acyclic::ProgramOrder)];
    compare_under(&models, 2, &program(globals, &[waits, wakes], RESULT));
}
