//! What is not modelled is refused, by name and at its place in the source; broken text never
//! crashes the reader.
mod support;
use program::interpreter::Outcome;
use program::trace::Options;
use program::Program;
use proptest::prelude::*;

fn main_with(body: &str) -> String {
    format!(
        "declare i32 @rand()\ndeclare i32 @_ZNSt3__112basic_stringIcE6lengthEv()\ndefine i32 @main() !dbg !4 {{\n{body}\n  ret i32 0\n}}\n\
         !3 = !DIFile(filename: \"a.c\", directory: \"\")\n\
         !4 = distinct !DISubprogram(name: \"main\", file: !3, line: 1)\n\
         !5 = !DILocation(line: 7, column: 9, scope: !6)\n\
         !6 = distinct !DILexicalBlock(scope: !4, file: !3, line: 2)\n"
    )
}

#[test]
fn unsupported_constructs_are_named_at_their_line() {
    for (body, name) in [
        (
            "%x = fadd fp128 zeroinitializer, zeroinitializer, !dbg !5",
            "fp128",
        ),
        ("%x = load <2 x i1>, ptr null, !dbg !5", "<2 x i1>"),
        (
            "%x = extractelement <2 x i128> zeroinitializer, i32 1, !dbg !5",
            "<2 x i128>",
        ),
        (
            "%x = call <2 x i32> @llvm.ctpop.v2i32(<2 x i32> zeroinitializer), !dbg !5",
            "llvm.ctpop.v2i32 of a vector",
        ),
        ("%x = udiv i128 1, 2, !dbg !5", "i128"),
        (
            "%x = call { i65, i1 } @llvm.sadd.with.overflow.i65(i65 zeroinitializer, i65 zeroinitializer), !dbg !5",
            "i65",
        ),
        (
            "%x = call i128 @llvm.umax.i128(i128 1, i128 2), !dbg !5",
            "i128",
        ),
        (
            "%x = icmp slt i100 zeroinitializer, zeroinitializer, !dbg !5",
            "an order of integers of 65 to 127 bits",
        ),
        ("%x = va_arg ptr null, i32, !dbg !5", "va_arg"),
        (
            "call void asm sideeffect \"mfence\", \"\"(), !dbg !5",
            "mfence",
        ),
        (
            "%x = call i64 @llvm.readsteadycounter(), !dbg !5",
            "llvm.readsteadycounter",
        ),
    ] {
        let program = Program::from_ir(&main_with(body)).expect("a program");
        let trace = support::trace(&program);
        let run = trace.runs.first().expect("a run");
        assert_eq!(run.outcome, Outcome::Unsupported, "{body}: {}", run.message);
        assert!(run.message.contains(name), "{body}: {}", run.message);
        let site = &program.sites[run.site.expect("a site") as usize];
        assert_eq!(site.place(), "a.c:7:9", "{body}");
    }
}

#[test]
fn what_is_not_run_is_not_refused() {
    let text = "
declare i64 @llvm.readsteadycounter()
@flag = global i32 0
define i32 @main() {
  %x = load i32, ptr @flag
  %c = icmp eq i32 %x, 0
  br i1 %c, label %end, label %other
other:
  %y = call i64 @llvm.readsteadycounter()
  store i64 %y, ptr @flag
  br label %end
end:
  ret i32 0
}";
    let program = Program::from_ir(text).expect("a program");
    let trace = support::trace(&program);
    assert!(trace
        .runs
        .iter()
        .all(|run| run.outcome == Outcome::Complete));
}

/// Whether an execution gets there is not known yet.
#[test]
fn a_missing_function_is_refused_where_it_is_called() {
    for (name, shown) in [
        ("mrand48", "mrand48"),
        (
            "_ZNSt3__112basic_stringIcE6lengthEv",
            "std::basic_string<char>::length",
        ),
    ] {
        let text = main_with(&format!("%x = call i32 @{name}(), !dbg !5"));
        let program = Program::from_ir(&text).expect("a program");
        let refused = format!("{:?}", program.functions[0].code);
        let message = format!("the function {shown} is called but not defined");
        assert!(refused.contains(&message), "{refused}");
    }
}

#[test]
fn unreachable_code_is_not_refused() {
    let text = "
define double @unused(double %x) {
  %y = fadd double %x, %x
  ret double %y
}
define i32 @main() {
  br label %end
dead:
  %z = call i32 @nowhere()
  br label %end
end:
  %p = phi i32 [ 0, %0 ], [ %z, %dead ]
  ret i32 %p
}
declare i32 @nowhere()";
    assert!(Program::from_ir(text).is_ok());
}

#[test]
fn broken_text_is_invalid_and_says_where() {
    for text in [
        "",
        "define i32 @main() {\n  ret i32 %x\n}",
        "define i32 @main() {\n  br label %nowhere\n}",
        "define i32 @main() {\n  %x = load i32\n}",
        "define i32 @main() {\nentry:\n}",
        "@x = global [2 x i32] [i32 1",
        "define i32 @main() {\n  %x = add i32 1, 1\n}",
        "%t = type { %t }\n@x = global %t zeroinitializer\ndefine i32 @main() {\n ret i32 0\n}",
        "%t = type { [1000000 x [1000000 x i64]] }\n@x = global %t zeroinitializer",
    ] {
        let error = Program::from_ir(text).expect_err(text);
        assert!(!error.message.is_empty());
    }
    let text = "define i32 @main() {\n  %x = bogus i32\n  store i32\n}";
    let error = Program::from_ir(text).expect_err("no value");
    assert_eq!(error.line, 4, "{}", error.message);
}

fn survive(text: &str) {
    if let Ok(program) = Program::from_ir(text) {
        program.trace(&Options {
            loops: 1,
            interleavings: 3,
            ..Options::default()
        });
    }
}

const SEEDS: [&str; 4] = [
    include_str!("fixtures/sb.ll"),
    include_str!("fixtures/queue.ll"),
    include_str!("fixtures/stack.ll"),
    include_str!("fixtures/waiting.ll"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_change_of_bytes_crashes(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_exchange_of_lines_or_words_crashes(
        seed in 0..SEEDS.len(),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
        words in any::<bool>(),
    ) {
        let pattern = if words { ' ' } else { '\n' };
        let mut parts: Vec<&str> = SEEDS[seed].split(pattern).collect();
        for (a, b) in pairs {
            let (a, b) = (a.index(parts.len()), b.index(parts.len()));
            parts.swap(a, b);
        }
        survive(&parts.join(if words { " " } else { "\n" }));
    }

    #[test]
    fn no_cut_crashes(seed in 0..SEEDS.len(), at in any::<prop::sample::Index>()) {
        let text = SEEDS[seed];
        survive(text.get(..at.index(text.len())).unwrap_or(""));
    }
}
