//! A mistake is reported where it is, with what to write instead.

use litmus::Test;

/// The error for a text, as printed.
fn error(text: &str) -> String {
    match Test::parse("t.litmus", text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_unknown_dialect_names_the_known_ones() {
    assert_eq!(
        error("Z80 t\n{}\nexists (x=1)\n"),
        "t.litmus:1:1: unknown dialect `Z80`\n\
         help: the dialects are C, X86, X86_64, AArch64, PPC, RISCV"
    );
}

#[test]
fn a_missing_memory_order_has_a_line_and_a_column() {
    assert_eq!(
        error("C t\n{}\nP0 (atomic_int* x) {\n  int r = atomic_load_explicit(x);\n}\n"),
        "t.litmus:4:33: expected `,`, found `)`"
    );
}

#[test]
fn an_unknown_memory_order_names_the_known_ones() {
    assert_eq!(
        error("C t\n{}\nP0 (atomic_int* x) {\n  atomic_store_explicit(x, 1, relese);\n}\n"),
        "t.litmus:4:31: expected a memory order, found `relese`\n\
         help: write memory_order_relaxed, _consume, _acquire, _release, _acq_rel or _seq_cst"
    );
}

#[test]
fn a_macro_of_the_kernel_is_unsupported() {
    let text = "C t\n{}\nP0 (int* x) {\n  WRITE_ONCE(*x, 1);\n}\n";
    assert_eq!(
        error(text),
        "t.litmus:4:3: unknown function `WRITE_ONCE`\n\
         help: the Linux kernel's macros come with its model: -m FOLDER, with the folder \
         tools/memory-model of a kernel tree"
    );
    assert!(Test::parse("t.litmus", text).is_err_and(|error| error.unsupported));
}

#[test]
fn what_follows_the_threads_of_c_are_regions() {
    let test =
        |end: &str| format!("C t\n{{}}\nP0 (int* x) {{\n  *x = 1;\n}}\n{end}\nexists (x=1)\n");
    for regions in ["regions: x:PROP, y:A B", "regions:"] {
        assert!(Test::parse("t.litmus", &test(regions)).is_ok_and(|test| test.has_regions));
    }
    assert_eq!(
        error(&test("regions: x")),
        "t.litmus:7:1: expected `:`, found end of text"
    );
    assert_eq!(
        error(&test("scopes: (a 0)")),
        "t.litmus:6:1: scopes are not supported"
    );
}

#[test]
fn an_unknown_instruction_names_the_supported_ones() {
    let error = error("PPC t\n{}\n P0 ;\n li r1,1 ;\n frob r1 ;\n");
    let start = "t.litmus:5:2: unknown instruction `frob`\nhelp: supported for Power: li, mr,";
    assert!(error.starts_with(start), "{error}");
}

#[test]
fn an_unknown_label_has_the_place_of_its_branch() {
    assert_eq!(
        error("RISCV t\n{}\n P0 ;\n bne x5,x6,L ;\n"),
        "t.litmus:4:2: unknown label `L`"
    );
}

#[test]
fn an_unknown_register_has_a_line_and_a_column() {
    assert_eq!(
        error("AArch64 t\n{ 0:Y1=x; }\n P0 ;\n NOP ;\n"),
        "t.litmus:2:5: unknown register `Y1`"
    );
}

#[test]
fn a_missing_condition_quantifier_is_what_was_expected() {
    assert_eq!(
        error("C t\n{}\nP0 (int* x) { *x = 1; }\nlocations [x;] as\n"),
        "t.litmus:4:16: expected a condition, found `as`\n\
         help: write exists (…), ~exists (…) or forall (…)"
    );
}
