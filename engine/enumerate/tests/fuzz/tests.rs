//! Fuzzes litmus tests: generated from the instructions of each dialect and the statements of C,
//! and mutated files.

use super::assembly::{assembled, ASSEMBLIES};
use super::choices::Choices;
use super::statements::in_c;
use super::watch::{self, Kind};
use super::{files, judge, Reached};
use cat::Model;
use litmus::Test;
use proptest::prelude::*;
use std::path::Path;

const WORDS: [&str; 34] = [
    "exists",
    "~exists",
    "forall",
    "locations",
    "filter",
    "P0",
    "|",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "/\\",
    "\\/",
    "=>",
    "not",
    "x",
    "y",
    "0:r0",
    "1:X0",
    "=",
    "-1",
    "0x7fffffffffffffff",
    "(*",
    "*)",
    "\"",
    "int",
    "while (1) {",
    "if (r0) {",
    "L:",
    "9223372036854775808",
    "\u{e9}",
];

fn made(bytes: &[u8]) -> String {
    let mut c = Choices::new(bytes);
    match c.below(2) {
        0 => in_c(&mut c),
        _ => {
            let assembly = c.below(ASSEMBLIES.len());
            assembled(&ASSEMBLIES[assembly], &mut c)
        }
    }
}

fn model(name: &str) -> Model {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let models = crate_folder.join("../../models");
    let path = match name {
        "general" => crate_folder.join("tests/general.cat"),
        _ => models.join(format!("{name}.cat")),
    };
    Model::load(&path, &[models]).unwrap_or_else(|e| panic!("{e}"))
}

fn run(kind: &Kind, make: impl Fn(&(prop::sample::Index, Vec<u8>)) -> String) {
    let [general, rc11, x86, aarch64, power, riscv] =
        ["general", "rc11", "x86", "aarch64", "power", "riscv"].map(model);
    let inputs = (
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<u8>(), 0..160),
    );
    watch::run(kind, &inputs, make, |text| {
        let Ok(test) = Test::parse("fuzz.litmus", text) else {
            return Reached::default();
        };
        let own = match test.dialect.name {
            "X86" | "X86_64" => &x86,
            "AArch64" => &aarch64,
            "PPC" => &power,
            "RISCV" => &riscv,
            _ => &rc11,
        };
        let _whatever = judge(&test, &general);
        Reached {
            read: true,
            decided: judge(&test, own),
        }
    });
}

#[test]
fn litmus_tests_that_are_made() {
    let kind = Kind {
        name: "made litmus tests",
        share: 15,
        read: 60,
        decided: 30,
    };
    run(&kind, |(_, bytes)| made(bytes));
}

#[test]
fn litmus_tests_that_are_changed() {
    let all = files::tests();
    assert!(all.len() > 500);
    let kind = Kind {
        name: "changed litmus tests",
        share: 25,
        read: 10,
        decided: 30,
    };
    run(&kind, |(which, bytes)| {
        files::changed(&all[which.index(all.len())].1, &WORDS, bytes)
    });
}
