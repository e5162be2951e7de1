//! Mistakes are reported where they are, with what to write instead.

use litmus::Test;

/// The message for a text, with its place.
fn message(text: &str) -> String {
    match Test::parse("t.litmus", text) {
        Ok(_) => panic!("read without a mistake: {text}"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn an_unknown_dialect_names_the_known_ones() {
    let said = message("Z80 t\n{}\nexists (x=1)\n");
    assert!(
        said.starts_with("t.litmus:1:1: unknown dialect `Z80`"),
        "{said}"
    );
    assert!(
        said.contains("C, X86, X86_64, AArch64, PPC, RISCV"),
        "{said}"
    );
}

#[test]
fn a_missing_order_is_placed() {
    let said = message("C t\n{}\nP0 (atomic_int* x) {\n  int r = atomic_load_explicit(x);\n}\n");
    assert!(
        said.starts_with("t.litmus:4:33: expected `,`, found `)`"),
        "{said}"
    );
}

#[test]
fn macros_of_the_kernel_are_named_as_such() {
    let said = message("C t\n{}\nP0 (int* x) {\n  WRITE_ONCE(*x, 1);\n}\n");
    assert!(
        said.contains("macros of the Linux kernel are not supported"),
        "{said}"
    );
}

#[test]
fn an_unknown_instruction_is_placed_and_the_known_are_named() {
    let said = message("PPC t\n{}\n P0 ;\n li r1,1 ;\n frob r1 ;\n");
    assert!(
        said.starts_with("t.litmus:5:2: unknown instruction `frob`"),
        "{said}"
    );
    assert!(said.contains("lwz, stw"), "{said}");
}

#[test]
fn a_missing_label_is_placed() {
    let said = message("RISCV t\n{}\n P0 ;\n bne x5,x6,L ;\n");
    assert!(said.starts_with("t.litmus:4:2: no label `L`"), "{said}");
}

#[test]
fn a_name_that_is_no_register_is_placed() {
    let said = message("AArch64 t\n{ 0:Y1=x; }\n P0 ;\n NOP ;\n");
    assert!(
        said.starts_with("t.litmus:2:5: `Y1` is not a register"),
        "{said}"
    );
}
