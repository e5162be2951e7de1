//! How programs and their threads start: global constructors, main alone, threads with one function.
use crate::conditions::{compare, compare_under};
use crate::random_threads::{LIBRARY, TARGET};
use crate::{model, options, rounds, MODELS};
use explore::{Acyclic, ProgramSource};
use program::Program;

/// A global constructor that does this, a thread that adds one to x, and main.
fn constructed(constructor: &str, main: &str) -> String {
    format!(
        "{TARGET}{LIBRARY}@x = global i32 0, align 4\n@h = global i64 0, align 8\n\
         @llvm.global_ctors = appending global [1 x {{ i32, ptr, ptr }}] \
         [{{ i32, ptr, ptr }} {{ i32 65535, ptr @begin, ptr null }}]\n\
         define ptr @t(ptr %arg) {{\n  atomicrmw add ptr @x, i32 1 monotonic\n  ret ptr null\n}}\n\
         define void @begin() {{\n{constructor}\n}}\ndefine i32 @main() {{\n{main}\n}}\n"
    )
}

const CREATES: &str = "  call i32 @pthread_create(ptr @h, ptr null, ptr @t, ptr null)\n";
const RETURNS_X: &str = "  %end = load atomic i32, ptr @x monotonic, align 4\n  ret i32 %end";

#[test]
fn main_runs_after_the_constructors() {
    let constructor = "  store i32 3, ptr @x\n  ret void";
    compare(&constructed(constructor, &format!("{CREATES}{RETURNS_X}")));
}

#[test]
fn a_program_of_main_alone_runs_once() {
    let constructor = "  ret void";
    let adds = "  atomicrmw add ptr @x, i32 1 monotonic\n";
    compare(&constructed(constructor, &format!("{adds}{RETURNS_X}")));
}

#[test]
fn an_error_of_a_constructor_is_reported() {
    let fails = "  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)\n  unreachable";
    compare(&constructed(fails, &format!("{CREATES}{RETURNS_X}")));
}

#[test]
fn a_constructor_that_starts_a_thread_is_not_supported() {
    let text = constructed(&format!("{CREATES}  ret void"), RETURNS_X);
    let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}"));
    let mut source = ProgramSource::new(&program, rounds(2));
    let explored = source.explore(&model("sc"), &options(Acyclic::ProgramOrder, 100, 60));
    let error = explored.err().map(|error| error.to_string());
    let error = error.unwrap_or_default();
    assert!(
        error.contains("a global constructor that starts threads"),
        "{error}"
    );
}

/// Two threads with one function, which do this with x, and main, which returns what it compares.
fn twins(arguments: [&str; 2], body: &str, end: &str) -> String {
    let create = |thread, argument| {
        format!("  call i32 @pthread_create(ptr %{thread}, ptr null, ptr @t, ptr {argument})\n")
    };
    let join = |thread| {
        format!("  %{thread}h = load i64, ptr %{thread}\n  call i32 @pthread_join(i64 %{thread}h, ptr null)\n")
    };
    let (one, other) = (create("a", arguments[0]), create("b", arguments[1]));
    let (joins, more) = (join("a"), join("b"));
    format!(
        "{TARGET}{LIBRARY}@x = global i64 0, align 8\n\
         define ptr @t(ptr %arg) {{\n{body}\n  ret ptr null\n}}\n\
         define i32 @main() {{\n  %a = alloca i64\n  %b = alloca i64\n{one}{other}{joins}{more}  \
         %last = load atomic i64, ptr @x monotonic, align 8\n{end}\n}}\n"
    )
}

#[test]
fn threads_with_other_arguments_are_not_alike() {
    let body = "  %number = ptrtoint ptr %arg to i64\n  \
                store atomic i64 %number, ptr @x monotonic, align 8";
    let returns = "  %end = trunc i64 %last to i32\n  ret i32 %end";
    let checks = |value| {
        format!(
            "  %bad = icmp eq i64 %last, {value}\n  br i1 %bad, label %fails, label %end\n\
             fails:\n  call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)\n  \
             unreachable\nend:\n  ret i32 0"
        )
    };
    let numbered = ["inttoptr (i64 1 to ptr)", "inttoptr (i64 2 to ptr)"];
    for end in [&checks(1), &checks(2), returns] {
        compare_under(&MODELS, 2, &twins(numbered, body, end));
    }
}

/// A thread with an odd number says whether it came second.
#[test]
fn threads_that_ask_for_their_numbers_are_not_alike() {
    let body = "  %self = call i64 @pthread_self()\n  \
                %old = atomicrmw add ptr @y, i64 1 monotonic\n  \
                %more = mul i64 %self, 2\n  %sum = add i64 %more, %old\n  \
                %low = and i64 %sum, 3\n  %says = icmp eq i64 %low, 3\n  \
                br i1 %says, label %says1, label %end\n\
                says1:\n  store atomic i64 1, ptr @x monotonic, align 8\n  br label %end\nend:";
    let end = "  %end = trunc i64 %last to i32\n  ret i32 %end";
    let globals = "@y = global i64 0, align 8\ndeclare i64 @pthread_self()\n";
    let text = twins(["null", "null"], body, end);
    compare_under(&MODELS, 2, &format!("{text}{globals}"));
}
