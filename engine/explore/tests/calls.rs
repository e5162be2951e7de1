//! Operation calls are compared with their specification in all executions that it distinguishes: also in
//! those with rounds in vain, by which calls precede others.
#[allow(dead_code)] // results are not asked for here
mod found;
#[allow(dead_code)] // the program is not a random one
mod random_threads;

use explore::{request, Acyclic, FaultKind, Options, Reduction, Reductions, Request, Search};
use found::model;
use program::interpreter::Limits;
use program::Program;
use random_threads::{LIBRARY, TARGET};

/// An increment that is lost, a thread that passes on that it is done, and a reader, which has seen that
/// only in a round in vain, if at all: what it reads in the end is from the thread in between.
const THREADS: &str = "\
@m = global [40 x i8] zeroinitializer, align 8
@count = global i64 0, align 8
@news = global i32 0, align 4
@add = constant [6 x i8] c\"add()\\00\"
@get = constant [8 x i8] c\"get() =\\00\"
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i64 @weakspot_parameter(i32)
declare void @weakspot_called(i32)
declare void @weakspot_returned(i32, ptr, i64, ...)
define ptr @reads(ptr %arg) {
  %parameter = call i64 @weakspot_parameter(i32 0)
  %specifies = icmp ne i64 %parameter, 0
  br i1 %specifies, label %specified, label %head
specified:
  call i32 @pthread_mutex_lock(ptr @m)
  %right = load i64, ptr @count
  call void (i32, ptr, i64, ...) @weakspot_returned(i32 1, ptr @get, i64 %right)
  call i32 @pthread_mutex_unlock(ptr @m)
  ret ptr null
head:
  br label %LOOP
end:
  call void @weakspot_called(i32 1)
  call void (i32, ptr, i64, ...) @weakspot_returned(i32 1, ptr @get, i64 0)
  ret ptr null
}
define ptr @adds(ptr %arg) {
  %parameter = call i64 @weakspot_parameter(i32 0)
  %specifies = icmp ne i64 %parameter, 0
  br i1 %specifies, label %specified, label %does
specified:
  call i32 @pthread_mutex_lock(ptr @m)
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  call void (i32, ptr, i64, ...) @weakspot_returned(i32 0, ptr @add, i64 0)
  call i32 @pthread_mutex_unlock(ptr @m)
  ret ptr null
does:
  call void @weakspot_called(i32 0)
  call void (i32, ptr, i64, ...) @weakspot_returned(i32 0, ptr @add, i64 0)
  store atomic i32 1, ptr @news release, align 4
  ret ptr null
}
define ptr @passes(ptr %arg) {
  %parameter = call i64 @weakspot_parameter(i32 0)
  %specifies = icmp ne i64 %parameter, 0
  br i1 %specifies, label %end, label %head
head:
  %seen = load atomic i32, ptr @news monotonic, align 4
  %done = icmp eq i32 %seen, 1
  br i1 %done, label %next, label %head
next:
  store atomic i32 2, ptr @news monotonic, align 4
  br label %end
end:
  ret ptr null
}
define i32 @main() {
  %a = alloca i64
  %b = alloca i64
  %c = alloca i64
";

/// How the reader waits: until it sees the news, or a limited number of times.
const LOOPS: [&str; 2] = [
    "waits:
  %seen = load atomic i32, ptr @news acquire, align 4
  %done = icmp eq i32 %seen, 2
  br i1 %done, label %end, label %waits
",
    "looks:
  %count = phi i32 [ 0, %head ], [ %more, %again ]
  %seen = load atomic i32, ptr @news acquire, align 4
  %done = icmp eq i32 %seen, 2
  br i1 %done, label %end, label %again
again:
  %more = add i32 %count, 1
  %over = icmp eq i32 %more, 3
  br i1 %over, label %gives_up, label %looks
gives_up:
  ret ptr null
",
];

/// The same threads, but what precedes the reader is what the thread that adds writes in a round in vain, if
/// at all. The reader waits until that thread waits no longer.
fn ordered_by_a_write() -> String {
    let wait = |at: &str, value: u32| {
        format!(
            "%seen = load atomic i32, ptr @{at} monotonic, align 4\n  \
             %done = icmp eq i32 %seen, {value}\n  br i1 %done, label %end, label "
        )
    };
    let reads = format!(
        "  %old = atomicrmw or ptr @tally, i32 1 acquire\n  br label %waits\n\
         waits:\n  {}%waits\n",
        wait("over", 1)
    );
    let adds = format!(
        "  br label %waits\nwaits:\n  {}%again\n\
         again:\n  %other = atomicrmw or ptr @tally, i32 1 release\n  br label %waits\n\
         end:\n  store atomic i32 1, ptr @over monotonic, align 4\n",
        wait("news", 2)
    );
    let globals = "@tally = global i32 0, align 4\n@over = global i32 0, align 4\n";
    let replaced = [
        ("  br label %LOOP\n", reads.as_str()),
        ("  store atomic i32 1, ptr @news release, align 4\n", &adds),
        (
            "%done, label %next, label %head",
            "true, label %next, label %head",
        ),
    ];
    replaced
        .iter()
        .fold(globals.to_owned() + THREADS, |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        })
}

#[test]
fn a_call_precedes_another_by_a_round_in_vain() {
    let orders = [["reads", "adds", "passes"], ["passes", "adds", "reads"]];
    let searches = [Search::Revisits, Search::Postpones];
    let by_a_read = LOOPS.map(|waits| {
        let (label, _) = waits.split_once(':').expect("a label");
        THREADS.replace(
            "  br label %LOOP\n",
            &format!("  br label %{label}\n{waits}"),
        )
    });
    let programs = by_a_read.into_iter().chain([ordered_by_a_write()]);
    let ways = programs.flat_map(|threads| {
        let each = orders.map(|order| searches.map(|search| (threads.clone(), order, search)));
        each.into_iter().flatten()
    });
    for (threads, order, search) in ways {
        let create = |(thread, start)| {
            format!("  call i32 @pthread_create(ptr %{thread}, ptr null, ptr @{start}, ptr null)\n")
        };
        let join = |thread| {
            format!(
                "  %{thread}h = load i64, ptr %{thread}\n  \
                 call i32 @pthread_join(i64 %{thread}h, ptr null)\n"
            )
        };
        let creates: String = ["a", "b", "c"].into_iter().zip(order).map(create).collect();
        let joins: String = ["a", "b", "c"].into_iter().map(join).collect();
        let text = format!("{TARGET}{LIBRARY}{threads}{creates}{joins}  ret i32 0\n}}\n");
        let program = Program::from_ir(&text).unwrap_or_else(|error| panic!("{error:?}"));
        for reductions in [Reductions::ALL, Reductions::NONE] {
            let options = Options {
                workers: 1,
                acyclic: Some(Acyclic::ProgramOrder),
                search: Some(search),
                reductions,
                ..Options::default()
            };
            let limits = Limits::default();
            let asked = request(
                &program,
                &model("rc20"),
                limits,
                &options,
                Request::Everything,
                None,
            );
            let found = asked.unwrap_or_else(|error| panic!("{error}")).found;
            let mut kinds = found.violations.iter().map(|seen| seen.fault.kind);
            assert_eq!(
                kinds.next(),
                Some(FaultKind::Linearizability),
                "{order:?} {search:?} {threads}"
            );
            assert!(!reductions.has(Reduction::Waits) || found.truncations.is_empty());
        }
    }
}
