//! Reads that wait for later writes: they do not where no thread writes their location any more.
use cat::Model;
use explore::{Acyclic, Options, ProgramSource, Reduction, Reductions};
use program::interpreter::Limits;
use program::Program;
use std::path::Path;

const COUNT: usize = 4;

/// Two threads: each writes locations, then reads those that the other has written. With `relaxed` loads it
/// writes each location twice, and one more that does not depend on the loads, before and after it has
/// read the other's.
fn text(relaxed: bool) -> String {
    let accesses = |writes: &str, reads: &str| {
        let write = |k| format!("  store atomic i32 1, ptr @{writes}{k} monotonic, align 4\n");
        let read =
            |k, order| format!("  %r{k} = load atomic i32, ptr @{reads}{k} {order}, align 4\n");
        if !relaxed {
            let writes: String = (0..COUNT).map(write).collect();
            return writes + &(1..=COUNT).map(|k| read(k, "acquire")).collect::<String>();
        }
        let writes = (0..2).map(write).collect::<String>().repeat(2);
        let reads: String = (0..2).map(|k| read(k, "monotonic")).collect();
        writes + &reads + &write(2) + &read(2, "acquire") + &write(2)
    };
    let globals = |of: &str| {
        let global = |k| format!("@{of}{k} = global i32 0, align 4\n");
        (0..=COUNT).map(global).collect::<String>()
    };
    let thread = |name: &str, body: String| {
        format!("define ptr @{name}(ptr noundef %0) {{\nentry:\n{body}  ret ptr null\n}}\n")
    };
    globals("x")
        + &globals("y")
        + &thread("first", accesses("x", "y"))
        + &thread("second", accesses("y", "x"))
        + "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n\
           declare i32 @pthread_join(i64, ptr)\n\
           define i32 @main() {\n\
           entry:\n\
           %one = alloca i64, align 8\n\
           %two = alloca i64, align 8\n\
           %a = call i32 @pthread_create(ptr %one, ptr null, ptr @first, ptr null)\n\
           %b = call i32 @pthread_create(ptr %two, ptr null, ptr @second, ptr null)\n\
           %c = load i64, ptr %one, align 8\n\
           %d = load i64, ptr %two, align 8\n\
           %e = call i32 @pthread_join(i64 %c, ptr null)\n\
           %f = call i32 @pthread_join(i64 %d, ptr null)\n\
           ret i32 0\n\
           }\n"
}

#[test]
fn fewer_graphs_are_checked_where_no_write_follows() {
    compare(false);
}

#[test]
fn loads_are_given_up_that_later_events_do_not_need() {
    compare(true);
}

fn compare(relaxed: bool) {
    let program = Program::from_ir(&text(relaxed)).expect("a supported program");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for name in ["imm", "aarch64-programs"] {
        let path = models.join(format!("{name}.cat"));
        let model = Model::load(&path, std::slice::from_ref(&models)).expect("a model");
        let [some, every] = [true, false].map(|foresees| {
            let options = Options {
                workers: 1,
                acyclic: Some(Acyclic::Dependencies),
                reductions: Reductions::ALL.with(Reduction::LaterWrites, foresees),
                ..Options::default()
            };
            let mut source = ProgramSource::new(&program, Limits::default());
            source.explore(&model, &options).expect("an answer")
        });
        assert_eq!(some.counts, every.counts, "under {name}");
        assert!(
            some.checks < every.checks,
            "{} of {} under {name}",
            some.checks,
            every.checks
        );
    }
}
