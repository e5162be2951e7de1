//! Threads that get an element each and could be exchanged along with these, but for one thing. What
//! that is about is done by one thread alone: which of three comes first, or last.
use crate::random_threads::{LIBRARY, TARGET};
use crate::{model, options, rounds, Compared, Comparison, Stack, CHOSEN};
use explore::{Acyclic, Options, ProgramSource, Reduction, Reductions, Search};
use program::Program;
use std::collections::BTreeSet;

/// Three threads that get `elements`.
#[derive(Clone, Copy, Default)]
struct Elements<'t> {
    globals: &'t str,
    /// What main does first.
    begin: &'t str,
    elements: [&'t str; 3],
    /// What each thread does first, or alone.
    each: &'t str,
    /// What the one does with its element, `%own`. `%first` says whether that is the first one.
    does: &'t str,
    /// What the second thread to come does.
    second: &'t str,
    /// A thread that has no element.
    other: &'t str,
    /// What main returns: what this holds in the end.
    result: &'t str,
}

const GLOBALS: &str = "\
@e = global i32 0, align 4
@f = global i32 0, align 4
@g = global i32 0, align 4
@x = global i32 0, align 4
@y = global i32 0, align 4
@seen = global i32 0, align 4
@count = global i32 0, align 4
@go = global i32 0, align 4
declare ptr @malloc(i64)
declare void @free(ptr)
";

impl Elements<'_> {
    /// The program in which the one is the thread that comes after so many.
    fn text(&self, comes: u32) -> String {
        let Elements {
            globals,
            begin,
            elements,
            each,
            does,
            second,
            other,
            result,
        } = *self;
        let [one, two, three] = elements;
        let is = if one.starts_with('@') { one } else { "null" };
        let counts = format!(
            "%old = atomicrmw add ptr @count, i32 1 monotonic\n  \
             %is = icmp eq i32 %old, {comes}\n  br i1 %is, label %does, label %next\n\
             does:\n{does}\n  br label %next\n\
             next:\n  %comes = icmp eq i32 %old, 1\n  br i1 %comes, label %second, label %end\n\
             second:\n{second}\n  br label %end\n"
        );
        let counts = if does.is_empty() {
            "br label %end"
        } else {
            &counts
        };
        format!(
            "{TARGET}{LIBRARY}{GLOBALS}{globals}\
             define ptr @t(ptr %own) {{\n  %first = icmp eq ptr %own, {is}\n{each}\n  \
             {counts}\nend:\n  ret ptr null\n}}\n\
             define ptr @other(ptr %unused) {{\n{other}\n  ret ptr null\n}}\n\
             define i32 @main() {{\n  %g = alloca i64\n  %h = alloca i64\n  %i = alloca i64\n  \
             %j = alloca i64\n{begin}\n  \
             call i32 @pthread_create(ptr %g, ptr null, ptr @t, ptr {one})\n  \
             call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr {two})\n  \
             call i32 @pthread_create(ptr %i, ptr null, ptr @t, ptr {three})\n  \
             call i32 @pthread_create(ptr %j, ptr null, ptr @other, ptr null)\n  \
             %a = load i64, ptr %g\n  call i32 @pthread_join(i64 %a, ptr null)\n  \
             %b = load i64, ptr %h\n  call i32 @pthread_join(i64 %b, ptr null)\n  \
             %c = load i64, ptr %i\n  call i32 @pthread_join(i64 %c, ptr null)\n  \
             %d = load i64, ptr %j\n  call i32 @pthread_join(i64 %d, ptr null)\n  \
             %result = load i32, ptr {result}\n  ret i32 %result\n}}\n"
        )
    }

    fn compare(&self) {
        self.compare_under("rc20");
    }

    fn compare_under(&self, model: &str) {
        for comes in [0, 2] {
            compare(model, Acyclic::ProgramOrder, &self.text(comes));
        }
    }
}

fn compare(name: &str, acyclic: Acyclic, text: &str) {
    let comparison = Comparison {
        models: vec![(acyclic, model(name))],
        loops: 2,
        seconds: CHOSEN,
    };
    match comparison.compare_text(text, 0, &Stack::few()) {
        Compared::Equal { .. } => {}
        Compared::TooLarge => panic!("too large"),
        Compared::Different { stack, how } => panic!("{}: {how}\n{text}", stack.name),
    }
}

const ALIKE: Elements = Elements {
    globals: "",
    begin: "",
    elements: ["@e", "@f", "@g"],
    each: "",
    does: "",
    second: "",
    other: "",
    result: "@seen",
};

/// Reads a location, and keeps what it holds.
const READS: &str = "  %value = load atomic i32, ptr %at monotonic, align 4\n  \
                     store i32 %value, ptr @seen";

#[test]
fn an_element_with_another_initial_value_is_not_exchanged() {
    let own = READS.replace("%at", "%own");
    let elements = Elements {
        globals: "@five = global i32 5, align 4\n",
        elements: ["@five", "@f", "@g"],
        does: &own,
        second: "  store atomic i32 5, ptr %own monotonic, align 4\n  \
                 store atomic i32 0, ptr %own monotonic, align 4",
        ..ALIKE
    };
    elements.compare();
}

#[test]
fn a_thread_that_accesses_another_location_is_not_exchanged() {
    let at = "  %at = select i1 %first, ptr @x, ptr @y\n";
    let reads = format!("{at}{READS}");
    let other = "  store atomic i32 1, ptr @x monotonic, align 4";
    let writes = format!("{at}  store atomic i32 1, ptr %at monotonic, align 4");
    for (does, other, result) in [(&*reads, other, "@seen"), (&*writes, "", "@x")] {
        let elements = Elements {
            does,
            other,
            result,
            ..ALIKE
        };
        elements.compare();
    }
    // as its first event
    let each = format!(
        "{at}  %value = load atomic i32, ptr %at monotonic, align 4\n  \
         load atomic i32, ptr @x monotonic, align 4\n  \
         load atomic i32, ptr @y monotonic, align 4"
    );
    let elements = Elements {
        each: &each,
        does: "  store i32 %value, ptr @seen",
        other,
        ..ALIKE
    };
    elements.compare();
}

/// The others may read what is not ordered.
#[test]
fn a_thread_whose_first_event_has_another_order_is_not_exchanged() {
    for [one, two] in [["acquire", "monotonic"], ["monotonic", "acquire"]] {
        let each = format!(
            "  br i1 %first, label %one, label %two\n\
             one:\n  %early = load atomic i32, ptr @x {one}, align 4\n  br label %counts\n\
             two:\n  %late = load atomic i32, ptr @x {two}, align 4\n  br label %counts\n\
             counts:\n  %value = phi i32 [ %early, %one ], [ %late, %two ]"
        );
        let elements = Elements {
            each: &each,
            does: "  %written = icmp eq i32 %value, 1\n  \
                   br i1 %written, label %reads, label %next\n\
                   reads:\n  %data = load i32, ptr @y",
            other: "  store i32 1, ptr @y\n  store atomic i32 1, ptr @x release, align 4",
            ..ALIKE
        };
        elements.compare();
    }
}

#[test]
fn a_thread_that_writes_another_value_is_not_exchanged() {
    let other = "  %value = load atomic i32, ptr @x monotonic, align 4\n  \
                 store i32 %value, ptr @seen";
    for number in ["7", "undef"] {
        let does = format!(
            "  %value = select i1 %first, i32 {number}, i32 8\n  \
             store atomic i32 %value, ptr @x monotonic, align 4"
        );
        let elements = Elements {
            does: &does,
            other,
            ..ALIKE
        };
        elements.compare();
    }
}

#[test]
fn a_thread_that_writes_an_indeterminate_value_is_not_exchanged() {
    let elements = Elements {
        does: "  %value = select i1 %first, i32 undef, i32 0\n  store i32 %value, ptr @x",
        other: "  %value = load i32, ptr @x\n  store i32 %value, ptr @seen",
        ..ALIKE
    };
    elements.compare_under("tso");
}

#[test]
fn a_thread_that_tests_which_element_it_has_is_not_exchanged() {
    let elements = Elements {
        does: "  br i1 %first, label %fails, label %next\nfails:\n  \
               call void @__assert_fail(ptr @text, ptr @text, i32 1, ptr @text)\n  unreachable\n\
               never:",
        ..ALIKE
    };
    elements.compare();
}

/// Of each element the first half is initialised.
const ALLOCATES: &str = "  %one = call ptr @malloc(i64 8)\n  %two = call ptr @malloc(i64 8)\n  \
                         %three = call ptr @malloc(i64 8)\n  store i32 0, ptr %one\n  \
                         store i32 0, ptr %two\n  store i32 0, ptr %three\n";

/// What is an event under TSO, also where one thread alone uses the object.
const ADDS: &str = "atomicrmw add ptr %own, i32 1 monotonic";

/// Frees an element, and says so.
const FREES: &str = "  %freed = load atomic ptr, ptr @freed acquire, align 8\n  \
                     %none = icmp eq ptr %freed, null\n  br i1 %none, label %end, label %frees\n\
                     frees:\n  call void @free(ptr %freed)\n  \
                     store atomic i32 1, ptr @go release, align 4\n  br label %end\nend:";

/// Each thread finds the element of the one before it, and stores there. The first stores to its own, if
/// one was freed.
const FOLLOWS: &str = "  %old = atomicrmw xchg ptr @last, ptr %own acq_rel\n  \
                       %none = icmp eq ptr %old, null\n  br i1 %none, label %one, label %all\n\
                       all:\n  store atomic i32 1, ptr %old monotonic, align 4\n  \
                       br label %end\n\
                       one:\n  %go = load atomic i32, ptr @go acquire, align 4\n  \
                       %late = icmp eq i32 %go, 1\n  br i1 %late, label %access, label %end\n\
                       access:\n  store atomic i32 1, ptr %own monotonic, align 4\n";

#[test]
fn an_element_that_is_freed_is_not_exchanged() {
    let globals = "@freed = global ptr null, align 8\n@last = global ptr null, align 8\n";
    let early =
        format!("{globals}define ptr @early(ptr %unused) {{\n{FREES}\n  ret ptr null\n}}\n");
    let starts = "  %k = alloca i64\n  \
                  call i32 @pthread_create(ptr %k, ptr null, ptr @early, ptr null)\n";
    let own = format!("  store atomic i32 1, ptr %own monotonic, align 4\n{FOLLOWS}");
    for freed in ["%one", "%three"] {
        let shares = format!("  store atomic ptr {freed}, ptr @freed release, align 8");
        let begin = format!("{ALLOCATES}{shares}");
        for each in [FOLLOWS, &own] {
            let elements = Elements {
                globals,
                begin: &begin,
                elements: ["%one", "%two", "%three"],
                each,
                other: FREES,
                ..ALIKE
            };
            elements.compare();
            // allocated while another thread runs
            let elements = Elements {
                globals: &early,
                begin: &format!("{starts}{begin}"),
                other: "",
                ..elements
            };
            elements.compare();
        }
        // by the thread that has it
        let elements = Elements {
            begin: ALLOCATES,
            elements: ["%one", "%two", "%three"],
            does: "  call void @free(ptr %own)",
            result: freed,
            ..ALIKE
        };
        elements.compare();
    }
}

/// Before the threads access their elements, or after that.
#[test]
fn an_element_that_another_thread_frees_is_not_exchanged() {
    let adds = format!("  {ADDS}");
    let frees = "  %freed = load ptr, ptr @freed\n  call void @free(ptr %freed)";
    let late = format!(
        "  %all = load atomic i32, ptr @count monotonic, align 4\n  \
         %is = icmp eq i32 %all, 3\n  br i1 %is, label %frees, label %end\n\
         frees:\n{frees}\n  br label %end\nend:"
    );
    for freed in ["%one", "%three"] {
        for (each, other) in [("", frees), (&adds, &late)] {
            let elements = Elements {
                globals: "@freed = global ptr null, align 8\n",
                begin: &format!("{ALLOCATES}  store ptr {freed}, ptr @freed"),
                elements: ["%one", "%two", "%three"],
                each,
                does: &adds,
                other,
                ..ALIKE
            };
            elements.compare_under("tso");
        }
    }
}

#[test]
fn an_element_that_is_not_initialised_is_not_exchanged() {
    let half = |element| format!("  %at = getelementptr i32, ptr {element}, i32 1\n");
    let reads = format!("{}{READS}", half("%own"));
    for initialised in ["%one", "%three"] {
        let elements = Elements {
            begin: &format!("{ALLOCATES}{}  store i32 0, ptr %at", half(initialised)),
            elements: ["%one", "%two", "%three"],
            each: &format!("  {ADDS}"),
            does: &reads,
            ..ALIKE
        };
        elements.compare();
        elements.compare_under("tso");
    }
}

/// Each of two stores races, and one is that of one thread.
#[test]
fn a_thread_that_does_the_same_elsewhere_is_not_exchanged() {
    let elements = Elements {
        does: "  br i1 %first, label %one, label %two\none:\n  store i32 1, ptr @x\n  \
               br label %next\ntwo:\n  store i32 1, ptr @x",
        globals: "define ptr @early(ptr %unused) {\n  store i32 2, ptr @x\n  ret ptr null\n}\n",
        begin: "  %k = alloca i64\n  \
                call i32 @pthread_create(ptr %k, ptr null, ptr @early, ptr null)",
        ..ALIKE
    };
    for comes in [0, 2] {
        let program = Program::from_ir(&elements.text(comes)).expect("a program");
        let sites = |reductions| {
            let options = Options {
                reductions,
                search: Some(Search::Postpones),
                ..options(Acyclic::ProgramOrder, 100_000, 5)
            };
            let mut source = ProgramSource::new(&program, rounds(2));
            let found = source.results(&model("rc20"), &options);
            let violations = found.expect("an answer").0.violations;
            let sites = violations.iter().map(|seen| seen.fault.site);
            sites.collect::<BTreeSet<_>>()
        };
        let every = sites(Reductions::ALL.with(Reduction::Elements, false));
        assert_eq!(sites(Reductions::ALL), every);
        assert_eq!(every.len(), 2, "{every:?}");
    }
}

/// What the second thread adds depends on what it has read before.
#[test]
fn a_thread_with_another_dependency_is_not_exchanged() {
    let text = format!(
        "{TARGET}{LIBRARY}{GLOBALS}\
         define ptr @t(ptr %own) {{\n  %second = icmp eq ptr %own, @f\n  \
         %read = load atomic i32, ptr @x monotonic, align 4\n  \
         br i1 %second, label %test, label %out\n\
         test:\n  %same = xor i32 %read, %read\n  br label %out\n\
         out:\n  %none = phi i32 [ 0, %0 ], [ %same, %test ]\n  %new = or i32 %none, 1\n  \
         atomicrmw add ptr @y, i32 %new monotonic\n  \
         %one = icmp eq i32 %read, 1\n  br i1 %one, label %keep, label %end\n\
         keep:\n  store atomic i32 1, ptr @seen monotonic, align 4\n  br label %end\n\
         end:\n  ret ptr null\n}}\n\
         define i32 @main() {{\n  %g = alloca i64\n  %h = alloca i64\n  \
         call i32 @pthread_create(ptr %g, ptr null, ptr @t, ptr @e)\n  \
         call i32 @pthread_create(ptr %h, ptr null, ptr @t, ptr @f)\n  \
         %read = load atomic i32, ptr @y monotonic, align 4\n  \
         %both = icmp eq i32 %read, 2\n  br i1 %both, label %copy, label %end\n\
         copy:\n  store atomic i32 1, ptr @x monotonic, align 4\n  br label %end\n\
         end:\n  %a = load i64, ptr %g\n  call i32 @pthread_join(i64 %a, ptr null)\n  \
         %b = load i64, ptr %h\n  call i32 @pthread_join(i64 %b, ptr null)\n  \
         %result = load i32, ptr @seen\n  ret i32 %result\n}}\n"
    );
    compare("imm", Acyclic::Dependencies, &text);
}
