"""relax writes memory orders into Rust files and crates where they stand, and nothing else."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from weakspot.generators.source.build import NO_OPTIONS
from weakspot.generators.source.program import read_program
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded
from weakspot.harness.edits.annotations import Annotation, annotate
from weakspot.harness.edits.changes import Rewritten
from weakspot.harness.edits.strength import Assignment, weaker
from weakspot.harness.edits.verification import rewrite_and_compile

pytestmark = [
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
    pytest.mark.usefixtures("cache"),
]

#: each line with what it becomes when all memory orders get the weakest ones
LINES = [
    ("X.load(Ordering::SeqCst);", "X.load(Ordering::Relaxed);"),
    ("X.store(f(1, 2) /* , */, Release);", "X.store(f(1, 2) /* , */, Relaxed);"),
    (
        "AtomicU32::load(&X, atomic::Ordering::Acquire);",
        "AtomicU32::load(&X, atomic::Ordering::Relaxed);",
    ),
    (
        'assert_eq!(X.load(Ordering::SeqCst), 3, "{}", 1);',
        'assert_eq!(X.load(Ordering::Relaxed), 3, "{}", 1);',
    ),
    ("X.fetch_max(3, Ordering::AcqRel);", "X.fetch_max(3, Ordering::Relaxed);"),
    (
        "let _ = X.compare_exchange_weak(3, 4, Ordering::AcqRel, Ordering::Acquire);",
        "let _ = X.compare_exchange_weak(3, 4, Ordering::Relaxed, Ordering::Relaxed);",
    ),
    (
        "(unsafe { &*P.load(Acquire) }).swap(5, FULL);",
        "(unsafe { &*P.load(Relaxed) }).swap(5, FULL);",
    ),
    ("set(&X, Ordering::Release);", "set(&X, Ordering::Relaxed);"),
    ("cas(&X, Ordering::Release);", "cas(&X, Ordering::Relaxed);"),
    ("fence(\n    Ordering::SeqCst,\n  );\n  own!(X);", "own!(X);"),
    ("const FULL: Ordering = Ordering::SeqCst;", "const FULL: Ordering = Ordering::Relaxed;"),
]
PROGRAM = """\
use std::sync::atomic::Ordering::{{self, Acquire, Relaxed, Release}};
use std::sync::atomic::{{self, AtomicPtr, AtomicU32, fence}};

static X: AtomicU32 = AtomicU32::new(0);
static P: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const X).cast_mut());
macro_rules! own {{ ($x: ident) => {{ $x.store(1, Ordering::{own}) }} }}
fn f(x: u32, y: u32) -> u32 {{ x + y }}
fn set(x: &AtomicU32, order: Ordering) {{ x.store(1, order); }}
fn cas(x: &AtomicU32, order: Ordering) {{ let _ = x.compare_exchange(1, 2, order, Relaxed); }}
{full}
fn main() {{
  std::thread::spawn(|| 0).join().unwrap();
  {body}
}}
"""


def program(column: int) -> str:
    *body, full = (each[column] for each in LINES)
    own = ("Release", "Relaxed")[column]
    return PROGRAM.format(body="\n  ".join(body), full=full, own=own)


def written(path: Path, orders: Callable[[Sequence[Annotation]], Assignment]) -> Rewritten:
    """The change to these memory orders."""
    annotations, _ = annotate([read_program(path)])
    change, _ = rewrite_and_compile(
        annotations,
        orders(annotations),
        lambda option: [("", read_program(path, build=NO_OPTIONS.with_flags([option])))],
    )
    return change


def test_each_order_is_written_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "orders.rs"
    path.write_text(program(0))
    change = written(path, lambda own: tuple(weaker(one.kind, one.order)[0] for one in own))
    assert change.by_hand == ()
    assert change.after[str(path)].decode() == program(1)
    assert path.read_text() == program(0)


UNCLEAR = {
    "let o = Release; X.store(1, o);": "its memory order is o, which its file does not define",
    "X.store(1, if true { Release } else { Relaxed });": "is written as if true",
    "X.store(1, FULL);": "its memory order is FULL, and several are needed",
    "X.fetch_update(Release, Acquire, |_| None).ok();": "2 memory orders are written there",
}


def test_what_is_not_understood_is_left_to_the_user(tmp_path: Path) -> None:
    path = tmp_path / "orders.rs"
    body = "\n  ".join((*UNCLEAR, "X.swap(1, FULL);"))
    path.write_text(PROGRAM.format(body=body, full=LINES[-1][0], own="Release"))
    change = written(
        path, lambda own: tuple(one.order if one.kind == "RMW" else "rlx" for one in own)
    )
    assert not change.after
    lines = path.read_text().splitlines()
    found = {lines[each.annotation.line - 1].strip(): each.why for each in change.by_hand}
    assert found.keys() == UNCLEAR.keys()
    for line, why in found.items():
        assert UNCLEAR[line] in why


CRATE = {
    "Cargo.toml": """\
        [package]
        name = "mailbox"
        version = "0.1.0"
        edition = "2021"
        [dependencies]
        flag = { path = "../flag" }
        """,
    "src/lib.rs": """\
        use std::cell::UnsafeCell;
        use std::sync::atomic::Ordering;

        pub struct Mailbox {
            full: flag::Flag,
            letter: UnsafeCell<u32>,
        }
        unsafe impl Sync for Mailbox {}

        impl Mailbox {
            pub const fn new() -> Self {
                Mailbox { full: flag::Flag::new(), letter: UnsafeCell::new(0) }
            }
            pub fn send(&self, letter: u32) {
                unsafe { *self.letter.get() = letter };
                self.full.set(Ordering::SeqCst);
            }
            pub fn receive(&self) -> Option<u32> {
                self.full.is_set().then(|| unsafe { *self.letter.get() })
            }
        }
        """,
    "tests/passing.rs": """\
        use mailbox::Mailbox;

        static MAILBOX: Mailbox = Mailbox::new();

        #[test]
        fn a_letter_arrives_whole() {
            let sends = std::thread::spawn(|| MAILBOX.send(7));
            assert!(matches!(MAILBOX.receive(), None | Some(7)));
            sends.join().unwrap();
        }
        """,
    "../flag/Cargo.toml": """\
        [package]
        name = "flag"
        version = "0.1.0"
        edition = "2021"
        """,
    "../flag/src/lib.rs": """\
        use std::sync::atomic::{AtomicBool, Ordering};

        const SEEN: Ordering = Ordering::SeqCst;

        pub struct Flag(AtomicBool);
        impl Flag {
            pub const fn new() -> Self {
                Flag(AtomicBool::new(false))
            }
            pub fn set(&self, order: Ordering) {
                self.0.store(true, order);
            }
            pub fn is_set(&self) -> bool {
                self.0.load(SEEN)
            }
        }
        """,
}


def test_relax_changes_a_crate_and_its_dependency_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    crate = tmp_path / "mailbox"
    for name, text in CRATE.items():
        path = crate / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.chdir(tmp_path)
    assert guarded(weakspot, ["relax", "mailbox", "-m", "rc20", "--diff"]) == 1
    patch = capsys.readouterr().out
    assert re.findall(r"^[-+] .*", patch, re.M) == [
        "-        self.full.set(Ordering::SeqCst);",
        "+        self.full.set(Ordering::Release);",
    ]
    assert "+const SEEN: Ordering = Ordering::Acquire;" in patch
    own, other = crate / "src/lib.rs", tmp_path / "flag/src/lib.rs"
    assert "set(Ordering::SeqCst)" in own.read_text()
    assert guarded(weakspot, ["relax", "mailbox", "-m", "rc20", "--apply"]) == 1
    assert "set(Ordering::Release)" in own.read_text()
    assert "SEEN: Ordering = Ordering::Acquire" in other.read_text()
    assert guarded(weakspot, ["relax", "mailbox", "-m", "rc20"]) == 0
