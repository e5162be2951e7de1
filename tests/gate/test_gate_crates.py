"""The tests of a Rust crate are scenarios of the gate."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree

import pytest
from projects import Project

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")

MANIFEST = '[package]\nname = "flag"\nversion = "0.1.0"\nedition = "2021"\n'
LIBRARY = """\
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Flag(AtomicBool, UnsafeCell<u32>);
unsafe impl Sync for Flag {}
impl Flag {
    pub const fn new() -> Self {
        Flag(AtomicBool::new(false), UnsafeCell::new(0))
    }
    pub fn set(&self) {
        unsafe { *self.1.get() = 1 };
        self.0.store(true, Ordering::Relaxed);
    }
    pub fn get(&self) -> u32 {
        if self.0.load(Ordering::Acquire) { unsafe { *self.1.get() } } else { 1 }
    }
}
"""
TEST = """\
static FLAG: flag::Flag = flag::Flag::new();

#[test]
fn passes() {
    let sets = std::thread::spawn(|| FLAG.set());
    assert_eq!(FLAG.get(), 1);
    sets.join().unwrap();
}
"""
UNREADABLE = """\
#[test]
fn reads_counters() {
    let reads = std::thread::spawn(|| unsafe {
        std::arch::asm!("rdpmc", out("rax") _, out("rdx") _);
    });
    reads.join().unwrap();
}
"""
SCENARIO = "tests/two.rs::passes"


@pytest.fixture
def crate(project: Project) -> Project:
    shutil.rmtree(project.folder / "tests")
    project.write("Cargo.toml", MANIFEST)
    project.write("src/lib.rs", LIBRARY)
    project.write("tests/two.rs", TEST)
    project.write("weakspot.toml", 'models = ["rc20"]\n[gate]\nscenarios = ["Cargo.toml"]\n')
    return project


def test_a_crate_is_gated_and_its_findings_are_accepted(crate: Project) -> None:
    printed = crate.gate("--sarif", "out.sarif", "--junit", "out.xml").printed(1)
    assert printed.startswith(f"{SCENARIO}  rc20\n")
    assert "  --> src/lib.rs:12:16" in printed
    assert "help: Ordering::Release at src/lib.rs:12 suffices" in printed
    (run,) = json.loads((crate.folder / "out.sarif").read_text())["runs"]
    fix = run["results"][0]["fixes"][0]["artifactChanges"][0]
    assert fix["artifactLocation"]["uri"].endswith("src/lib.rs")
    text = fix["replacements"][0]["insertedContent"]["text"]
    assert text == "        self.0.store(true, Ordering::Release);\n"
    (case,) = ElementTree.parse(crate.folder / "out.xml").getroot().iter("testcase")
    assert case.get("file") == "tests/two.rs"
    assert crate.gate("--write-baseline").code == 0
    assert crate.gate().code == 0
    crate.write("src/lib.rs", LIBRARY.replace("Acquire", "Relaxed"))
    assert crate.gate(".").code == 0, "the same findings"
    crate.write("src/lib.rs", LIBRARY.replace("Relaxed", "Release"))
    assert "1 scenario safe" in crate.gate(".").printed(0)


def test_a_test_that_cannot_be_read_leaves_the_others(crate: Project) -> None:
    crate.write("src/lib.rs", LIBRARY.replace("Relaxed", "Release"))
    crate.write("tests/two.rs", TEST + UNREADABLE)
    printed = crate.gate().printed(2)
    assert "WS002" in printed
    assert "  --> tests/two.rs:12:9" in printed
    assert "leave it out with #[cfg(not(weakspot))]" in printed
    assert "1 scenario safe, 1 scenario not checked" in printed
    printed = crate.weakspot("check", ".", "-m", "rc20").printed(3)
    assert "two::passes  Safe" in printed
    assert "two::reads_counters cannot be read: the inline assembly" in printed
    assert "(tests/two.rs:12:9)" in printed


def test_a_crate_that_does_not_compile_is_a_finding(crate: Project) -> None:
    crate.write("src/lib.rs", "pub fn f() -> u32 { }\n")
    assert "  --> src/lib.rs:1:" in crate.gate().printed(2)
