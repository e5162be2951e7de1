"""Objects in Rust that behave as specified, and weakened copies; those that are not understood."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from linearizing import OBJECTS, answered

import weakspot
from weakspot.errors import BadInput
from weakspot.generators.source.build import Build
from weakspot.harness.cli import weakspot as commands
from weakspot.harness.cli.errors import guarded
from weakspot.harness.clients import search
from weakspot.harness.clients.subject import ClientChoice, Variation
from weakspot.harness.values.linearizability import Linearizability

pytestmark = pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")

SIDES = {"producer": ("push",), "consumer": ("pop",)}
GUARDS = {"read": "lock_shared", "write": "lock"}


def found(path: Path, choice: ClientChoice, *defines: str) -> Linearizability:
    subject = choice.subject(path)
    with search.compiled(subject, choice.size, Build(defines=defines)) as made:
        return answered(subject, made, "rc20", choice.size, 60.0)


@pytest.mark.parametrize(
    ("name", "kind", "how", "client"),
    [
        ("ms_queue", "queue", {}, "push(1) | push(2)"),
        ("treiber_stack", "stack", {}, "push(1) | pop()"),
        (
            "spsc_ring",
            "queue",
            {"variation": Variation(capacity=2), "roles": SIDES},
            "push(1) | pop()",
        ),
        ("spin_lock", "lock", {}, "lock() | lock() unlock()"),
        ("rw_lock", "lock", {"meanings": GUARDS}, "write() | read() unlock()"),
        ("channel", "queue", {"variation": Variation(blocking=("recv",))}, "send(1) | recv()"),
        ("counter", "counter", {}, "increment() | increment()"),
        ("set", "set", {}, "insert(1) insert(1)"),
        ("once", "once", {}, "call_once() | call_once()"),
    ],
)
def test_objects(name: str, kind: str, how: dict[str, Any], client: str) -> None:
    choice = ClientChoice(kind, calls=3, threads=2, **how)
    right = found(OBJECTS / f"{name}.rs", choice)
    assert (right.client, right.result, right.complete) == ("", "Held", 3)
    wrong = found(OBJECTS / f"{name}.rs", choice, "weakened")
    assert (wrong.client, wrong.result) == (client, "Violated")


def test_a_weak_memory_order_is_found_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = OBJECTS / "spin_lock.rs"
    options = ("--as", "lock", "--calls", "3", "-D", "weakened")
    assert guarded(commands, ("linearize", str(file), *options)) == 1
    line = 1 + file.read_text().splitlines().index("        self.lock.locked.store(false, UNLOCK);")
    printed = capsys.readouterr().out
    assert f"Ordering::Release at {os.path.relpath(file)}:{line} suffices" in printed


def test_memory_orders_of_an_object_are_relaxed_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "ring.rs"
    text = (OBJECTS / "spsc_ring.rs").read_text()
    path.write_text(text.replace("store(tail + 1, FILL)", "store(tail + 1, Ordering::SeqCst)"))
    choice = ClientChoice("queue", threads=2, variation=Variation(capacity=2), roles=SIDES)
    relaxations = weakspot.relax_object(path, choice, machine_models=())
    (relaxed,) = relaxations
    relaxations.apply(relaxed)
    assert "store(tail + 1, Ordering::Release)" in path.read_text()


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("impl Q {\n pub fn push(&mut self, v: u32) {} }", "push takes &mut self, which", 3),
        ("impl Q {\n fn push(&self, v: u32) {} }", "push is not pub", 3),
        ("impl Q {\n pub async fn push(&self, v: u32) {} }", "push is async", 3),
        ("impl Q {\n pub fn push(&self, v: u8, w: u8, x: u8) {} }", "push has 3 arguments", 3),
        (
            "pub static ONE: Q = Q;\nimpl Q { pub fn push(&self, v: u8, w: u8) {} }",
            "push has 2 arguments, not 1",
            3,
        ),
        ("impl Q {\n pub fn push(&self, v: u32) {} }", "Q has no constructor", 1),
        ("impl Q { pub fn len(&self) -> u32 { 0 } }", "no operations of a queue in", 0),
        ("impl Q { pub fn push(&self, v: u32) {} }\nimpl R { pub fn pop(&self) {} }", "Q, R", 3),
        ("impl R {\n pub fn push(&self, v: u32) {} }", "R is not a pub struct or enum of", 3),
        ("pub struct R<'a>(&'a u8);\nimpl R<'_> { pub fn push(&self) {} }", "R has a lifetime", 2),
    ],
)
def test_what_is_not_understood(text: str, message: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "queue.rs"
    path.write_text(f"pub struct Q;\n{text}\n")
    with pytest.raises(BadInput, match=message) as raised:
        ClientChoice("queue").subject(path)
    assert raised.value.place == (f"{path}:{line}" if line else str(path))
    assert raised.value.advice


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("pub fn push(&self, v: String) {}", "an argument of type `String` is not a number", 4),
        ("pub fn push(&self, v: u8) -> Option<u8> { None }", "does not say what succeeded", 4),
        ("pub fn pop(&self) -> bool { true }", "`bool` is not a value that is found", 4),
        ("pub fn pop(&self) -> u8 { 0u16 }", "mismatched types", 4),
    ],
)
def test_what_does_not_compile(text: str, message: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "queue.rs"
    path.write_text(f"#[derive(Default)]\npub struct Q;\nimpl Q {{\n{text}\n}}\n")
    with pytest.raises(BadInput, match=message) as raised:
        found(path, ClientChoice("queue"))
    assert str(raised.value.place).startswith(f"{path}:{line}")


def test_an_object_that_threads_cannot_share(tmp_path: Path) -> None:
    path = tmp_path / "queue.rs"
    path.write_text(
        "#[derive(Default)]\npub struct Q(std::cell::Cell<u32>);\n"
        "impl Q { pub fn push(&self, v: u32) { self.0.set(v) } }\n"
    )
    with pytest.raises(BadInput, match="cannot be shared between threads safely") as raised:
        found(path, ClientChoice("queue"))
    assert raised.value.message.count("shared") == 1
    assert raised.value.place == f"{path}:2"


def test_clients_in_a_file_are_of_c(tmp_path: Path) -> None:
    choice = ClientChoice("counter")
    with pytest.raises(BadInput, match="are not written to a file"):
        next(weakspot.linearize(OBJECTS / "counter.rs", choice, output=tmp_path / "clients.c"))


def test_a_crate_is_no_file_with_operations(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").touch()
    with pytest.raises(BadInput, match="a crate, not a file"):
        ClientChoice("queue").subject(tmp_path)


PAIR = """\
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
#[derive(Default)]
pub struct Pair(AtomicU64, AtomicU64);
impl Pair {
    pub fn first(&self, value: u64) { self.0.store(value, SeqCst) }
    pub fn second(&self, value: u64) { self.1.store(value, SeqCst) }
    pub fn sum(&self) -> Option<u64> {
        let sum = self.0.load(SeqCst) + self.1.load(SeqCst);
        (sum > 0).then_some(sum)
    }
    pub fn is_set(&self) -> bool { self.0.load(SeqCst) > 0 }
}
"""
SPECIFICATION = """\
static long first, second;
static void spec_first(long value) { first = value; }
static void spec_second(long value) { second = value; }
static long spec_sum(void) { return first + second ? first + second : WEAKSPOT_EMPTY; }
static bool spec_is_set(void) { return first > 0; }
"""


def test_a_specification_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "pair.rs").write_text(PAIR)
    (tmp_path / "pair.h").write_text(SPECIFICATION)
    choice = ClientChoice(str(tmp_path / "pair.h"), calls=3, threads=2)
    assert found(tmp_path / "pair.rs", choice).client == "sum() | first(1) second(2)"
    (tmp_path / "pair.rs").write_text(PAIR.replace("+ self.1.load(SeqCst)", ""))
    assert found(tmp_path / "pair.rs", choice).client == "second(1) sum()"


def test_a_lock_with_functions_that_unlock_it(tmp_path: Path) -> None:
    """Without guards, the operations that unlock are its own."""
    (tmp_path / "lock.rs").write_text(
        "use std::sync::atomic::{AtomicBool, Ordering::*};\n"
        "#[derive(Default)]\npub struct Lock(AtomicBool);\nimpl Lock {\n"
        "    pub fn unlock(&self) { self.0.store(false, Release) }\n"
        "    pub fn try_lock(&self) -> bool { !self.0.swap(true, Acquire) }\n"
        "    pub fn lock(&self) { while !self.try_lock() {} }\n}\n"
    )
    subject = ClientChoice("lock").subject(tmp_path / "lock.rs")
    assert [(each.name, each.line) for each in subject.operations] == [
        ("unlock", 5),
        ("try_lock", 6),
        ("lock", 7),
    ]
    assert found(tmp_path / "lock.rs", ClientChoice("lock", calls=3, threads=2)).result == "Held"
