"""What relax prints, what --diff prints and what --apply writes are one answer."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from weakspot.generators.source.program import read_program
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded
from weakspot.harness.edits.annotations import annotate

MAIN = """\
int main() {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  (void)SEEN;
  if (READ) assert(data == 1);
  pthread_join(t, 0);
}
"""
C = f"""\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
DEFINITIONS
static atomic_int ready, count;
static int data;
static void *writer(void *unused) {{
  data = 1;
  COUNT;
  WRITE;
  return unused;
}}
{MAIN}"""
CPP = f"""\
#include <atomic>
#include <cassert>
#include <pthread.h>
DEFINITIONS
static int data;
static void *writer(void *unused) {{
  data = 1;
  COUNT;
  WRITE;
  return unused;
}}
{MAIN}"""
WRAPPERS = """\
static int get(atomic_int *p, memory_order o) { return atomic_load_explicit(p, o); }
static void set(atomic_int *p, int v, memory_order o) { atomic_store_explicit(p, v, o); }"""
TEMPLATES = """\
static std::atomic<int> ready, count;
template <class T> T get(std::atomic<T> &p, std::memory_order o) { return p.load(o); }
template <std::memory_order o, class T> void set(std::atomic<T> &p, T v) { p.store(v, o); }"""
CELLS = """\
template <class T> struct Cell {
  std::atomic<T> value{0};
  void set(T v) { value.store(v); }
  T get() { return value.load(); }
};
static Cell<int> ready;
static Cell<long> count;"""
# of each: the program, its definitions, how it counts, writes and reads, the lines afterwards; what
# the count acquires, no program exercises, so that it stays
PROGRAMS = {
    "operators.c": (
        C,
        "",
        ("count++", "ready = 1", "ready == 1"),
        (
            "atomic_fetch_add_explicit(&count, 1, memory_order_acquire)",
            "atomic_store_explicit(&ready, 1, memory_order_release)",
            "atomic_load_explicit(&ready, memory_order_acquire) == 1",
        ),
    ),
    "operators.cpp": (
        CPP,
        "static std::atomic<int> ready, count;",
        ("count++", "ready = 1", "ready == 1"),
        (
            "count.fetch_add(1, std::memory_order_acquire)",
            "ready.store(1, std::memory_order_release)",
            "ready.load(std::memory_order_acquire) == 1",
        ),
    ),
    "wrapper.c": (
        C,
        WRAPPERS,
        (
            "set(&count, 1, memory_order_seq_cst)",
            "set(&ready, 1, memory_order_seq_cst)",
            "get(&ready, memory_order_seq_cst)",
        ),
        (
            "set(&count, 1, memory_order_relaxed)",
            "set(&ready, 1, memory_order_release)",
            "get(&ready, memory_order_acquire)",
        ),
    ),
    "order_macro.c": (
        C,
        "#define GET(x, order) atomic_load_explicit(&x, order)\n"
        "#define SET(x, v, order) atomic_store_explicit(&x, v, order)",
        (
            "SET(count, 1, memory_order_relaxed)",
            "SET(ready, 1, memory_order_relaxed)",
            "GET(ready, memory_order_relaxed)",
        ),
        (
            "SET(count, 1, memory_order_relaxed)",
            "SET(ready, 1, memory_order_release)",
            "GET(ready, memory_order_acquire)",
        ),
    ),
    "whole_macro.c": (
        C,
        "#define SET(x, v) atomic_store_explicit(&x, v, memory_order_seq_cst)",
        ("SET(count, 1)", "atomic_store(&ready, 1)", "atomic_load(&ready)"),
        (
            "SET(count, 1)",
            "atomic_store_explicit(&ready, 1, memory_order_release)",
            "atomic_load_explicit(&ready, memory_order_acquire)",
        ),
    ),
    "template_order.cpp": (
        CPP,
        TEMPLATES,
        (
            "set<std::memory_order_seq_cst>(count, 1)",
            "set<std::memory_order_seq_cst>(ready, 1)",
            "get(ready, std::memory_order::seq_cst)",
        ),
        (
            "set<std::memory_order_relaxed>(count, 1)",
            "set<std::memory_order_release>(ready, 1)",
            "get(ready, std::memory_order::acquire)",
        ),
    ),
    "two_instances.cpp": (
        CPP,
        CELLS,
        ("count.set(1)", "ready.set(1)", "ready.get()"),
        ("count.set(1)", "ready.set(1)", "ready.get()"),
    ),
}
LEFT = {"whole_macro.c": ["rlx"]}
"""What is left to the user: the weakest memory orders of it."""


def text(program: str, definitions: str, lines: tuple[str, str, str]) -> str:
    words = zip(("COUNT", "WRITE", "READ"), lines, strict=True)
    seen = "count.value.load(R)" if definitions == CELLS else "count.load(R)"
    if program is C:
        seen = "atomic_load_explicit(&count, R)"
    scope = "" if program is C else "std::"
    found = program.replace("DEFINITIONS", definitions)
    found = found.replace("SEEN", seen.replace("R", f"{scope}memory_order_relaxed"))
    for word, line in words:
        found = re.sub(rf"(?<= ){word}(?=;)|(?<=\(){word}(?=\) assert)", lambda _: line, found)  # noqa: B023
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_printed_orders_the_patch_and_the_written_file_agree(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, definitions, before, after = PROGRAMS[name]
    path = Path(name)
    path.write_text(text(program, definitions, before))
    expected = text(program, definitions, after)
    if name == "two_instances.cpp":
        expected = expected.replace("store(v)", "store(v, std::memory_order_release)")
        expected = expected.replace("load()", "load(std::memory_order_acquire)")

    assert guarded(weakspot, ["relax", name, "--json"]) == 1
    printed = capfd.readouterr()
    found, *_ = map(json.loads, printed.out.splitlines())
    weakest = found["weakest"][0]["orders"]
    by_hand = [line for line in printed.err.splitlines() if line.startswith("by hand: ")]
    assert len(by_hand) == len(LEFT.get(name, ()))

    assert guarded(weakspot, ["relax", name, "--diff"]) == 1
    patch = capfd.readouterr()
    assert [line for line in patch.err.splitlines() if line.startswith("by hand: ")] == by_hand
    other = tmp_path / "other"
    other.mkdir()
    (other / name).write_text(path.read_text())
    command = ["patch", "-s", "-p1"]
    subprocess.run(command, input=patch.out, text=True, cwd=other, check=True)
    assert (other / name).read_text() == expected

    assert guarded(weakspot, ["relax", name, "--apply"]) == 1
    assert path.read_text() == expected
    written = [each.order for each in annotate([read_program(path)])[0]]
    changed = [new for new, old in zip(weakest, written, strict=True) if new != old]
    assert changed == LEFT.get(name, [])
