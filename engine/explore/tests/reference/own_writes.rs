//! Writes in rounds of a loop, mostly at a location that only their thread accesses while it runs. Each is
//! what is left of a round that is otherwise in vain.
use crate::conditions::{compare_under, program};
use explore::Acyclic;

const GLOBALS: &str = "@x = global i32 0, align 4\n@y = global i32 0, align 4\n\
                       @z = global i32 0, align 4\n@q = global i32 0, align 4\n\
                       @kept = global i32 0, align 4\n";

/// A thread keeps in x that it has seen 1 in y, and ends when it sees another value and z set. Another one
/// writes 1 to y, then 0, and sets z. There may be a third one. Main returns x,
/// and what that has kept.
fn compare_keeping(first: &str, keep: &str, other: &str) {
    let keeps = format!(
        "{first}  br label %head\nhead:\n  %v = load atomic i32, ptr @y monotonic, align 4\n  \
         %is = icmp eq i32 %v, 1\n  br i1 %is, label %keep, label %look\nkeep:\n{keep}  \
         br label %head\nlook:\n  %w = load atomic i32, ptr @z monotonic, align 4\n  \
         %set = icmp eq i32 %w, 1\n  br i1 %set, label %done, label %head\ndone:"
    );
    let writes = "  store atomic i32 1, ptr @y monotonic, align 4\n  \
                  store atomic i32 0, ptr @y monotonic, align 4\n  \
                  store atomic i32 1, ptr @z monotonic, align 4";
    let threads = [&keeps, writes, other];
    let count = threads.len() - usize::from(other.is_empty());
    let end = "  %x = load i32, ptr @x\n  %kept = load i32, ptr @kept\n  \
               %more = mul i32 %kept, 10\n  %both = add i32 %x, %more\n  ret i32 %both";
    let text = program(GLOBALS, &threads[..count], end);
    let models = [
        ("sc", Acyclic::ProgramOrder),
        ("rc20", Acyclic::ProgramOrder),
    ];
    compare_under(&models, 3, &text);
}

/// The value is that of another location, which the thread has read or written last.
#[test]
fn a_write_in_a_round_is_seen_after_the_loop() {
    let writes_another = "  store atomic i32 1, ptr @q monotonic, align 4\n";
    for first in ["", writes_another] {
        for keep in [
            "  store atomic i32 1, ptr @x monotonic, align 4\n",
            "  store atomic i32 2, ptr @x monotonic, align 4\n",
            "  store i32 1, ptr @x, align 4\n",
            "  atomicrmw or ptr @x, i32 1 monotonic\n",
        ] {
            compare_keeping(first, keep, "");
        }
    }
}

/// The thread has written another value there before the loop.
#[test]
fn a_write_of_another_value_in_a_round_is_seen_after_the_loop() {
    for write in [
        "  store atomic i32 3, ptr @x monotonic, align 4\n",
        "  store i32 3, ptr @x, align 4\n",
    ] {
        compare_keeping(write, &write.replace('3', "1"), "");
    }
}

/// A third thread has replaced what the thread has written there before the loop.
#[test]
fn a_write_of_the_same_value_in_a_round_is_seen_if_another_thread_writes_there() {
    let write = "  store atomic i32 1, ptr @x monotonic, align 4\n";
    let replaces = "  %old = atomicrmw xchg ptr @x, i32 2 monotonic\n  store i32 %old, ptr @kept";
    compare_keeping(write, write, replaces);
}
