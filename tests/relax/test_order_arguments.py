"""A memory order that is an argument of the project's own function is named where it is passed."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from weakspot.generators.litmus import Site
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded
from weakspot.harness.edits.order_arguments import SourceText, written_at

PROGRAM = textwrap.dedent(
    """\
    #include <assert.h>
    #include <pthread.h>
    #include <stdatomic.h>
    static int get(atomic_int *p, memory_order order) { return atomic_load_explicit(p, order); }
    static void set(atomic_int *p, int v, memory_order o) { atomic_store_explicit(p, v, o); }
    static void twice(atomic_int *p, memory_order how) { set(p, 1, how); }
    static atomic_int ready, other;
    static int data;
    static void *writer(void *unused) {
      set(&other, 1, memory_order_release);
      data = 1;
      SET;
      return unused;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, writer, 0);
      if (get(&ready, memory_order_acquire)) assert(data == 1);
      pthread_join(t, 0);
    }
    """
)
WAYS = ("set(&ready, 1, ORDER)", "twice(&ready, ORDER)")


@pytest.fixture(params=WAYS)
def weak(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that passes memory_order_relaxed at line 12, directly or through two functions."""
    monkeypatch.chdir(tmp_path)
    path = Path("program.c")
    text = request.param.replace("ORDER", "memory_order_relaxed")
    path.write_text(PROGRAM.replace("SET", text))
    return path


def test_the_gate_names_the_line_that_passes_it(
    weak: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(weakspot, ["gate", str(weak), "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for each in found:
        assert [need["place"]["line"] for need in each["needs"]] == [12]
        assert each["fix"].startswith("memory_order_release at program.c:12 suffices")
    (assertion,) = (each for each in found if each["id"] == "WS101")
    assert assertion["needs"][0]["place"]["function"] == "writer"


def test_relax_changes_it_there_and_nowhere_else(weak: Path) -> None:
    before = weak.read_text()
    assert guarded(weakspot, ["relax", str(weak), "--apply"]) == 1
    assert weak.read_text() == before.replace("memory_order_relaxed", "memory_order_release")


@pytest.mark.parametrize(
    ("line", "is_passed"),
    [
        ("void set(int v, std::memory_order o) { x.store(v, o); }", True),
        ("void set(int v, const memory_order o = rlx) { x.store(v, o); }", True),
        ("template <std::memory_order o> void set(int v) { x.store(v, o); }", True),
        ("void set(int v) { x.store(v, memory_order_release); }", False),
        ("void set(int v) { x.store(v, ORDER); }", False),
        ("void set(int v) { memory_order o = memory_order_release; { x.store(v, o); } }", False),
        ("void set(int v, memory_order o) { x.store(f(v, o)); }", False),
        ("void set(int v, memory_order o) { x = v; }", False),
    ],
)
def test_only_a_parameter_is_followed_to_the_call(line: str, is_passed: bool) -> None:
    column = line.rindex("{ x") + 3
    site = Site("a.h", 1, column, "set", "W", "rel", ("main@a.c:7:3",))
    found = written_at(site, lambda _: SourceText(line))
    assert (found.file, found.line, found.function) == (
        ("a.c", 7, "main") if is_passed else ("a.h", 1, "set")
    )


EXCHANGES = PROGRAM.replace(
    "static int data;",
    """static int data;
#define LATER memory_order_relaxed
static int change(atomic_int *p, memory_order order) {
  int old = 0;
  return atomic_compare_exchange_strong_explicit(p, &old, 1, order, memory_order_relaxed);
}""",
)


@pytest.mark.parametrize("order", ["memory_order_relaxed", "LATER"])
def test_the_order_of_one_outcome_of_a_compare_exchange_is_changed_where_it_is_passed(
    order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("program.c")
    path.write_text(EXCHANGES.replace("SET", f"change(&ready, {order})"))
    before = path.read_text()
    assert guarded(weakspot, ["relax", str(path), "--apply"]) == 1
    where = "LATER {}" if order == "LATER" else "change(&ready, {})"
    weak, strong = (where.format(f"memory_order_{each}") for each in ("relaxed", "release"))
    assert path.read_text() == before.replace(weak, strong)


def test_a_macro_of_another_file_is_changed_where_it_is_defined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    header, program = Path("orders.h"), Path("program.c")
    header.write_text(
        "#define LATER memory_order_relaxed\n"
        "static inline void put(atomic_int *p) { atomic_store_explicit(p, 1, LATER); }\n"
    )
    text = PROGRAM.replace("#include <stdatomic.h>", '#include <stdatomic.h>\n#include "orders.h"')
    text = text.replace("set(&other, 1, memory_order_release);", "")
    program.write_text(text.replace("SET", "atomic_store_explicit(&ready, 1, LATER); put(&ready)"))
    before = program.read_text()
    assert guarded(weakspot, ["relax", "program.c", "--apply"]) == 1
    assert header.read_text().startswith("#define LATER memory_order_release\n")
    assert program.read_text() == before
