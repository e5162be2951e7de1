"""`weakspot relax` on the command line: what it prints, and its exit codes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion
from test_explorations import ENDLESS


def test_a_memory_order_stronger_than_needed_is_a_finding(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("relax", "duffy_wsq").printed(1)) == snapshot


def test_memory_orders_that_are_all_needed_are_no_finding(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("relax", "dice_ptlqueue").printed(0)) == snapshot


def test_the_execution_that_fails_with_a_weaker_memory_order_is_drawn(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    ended = run("relax", "dice_ptlqueue", "--witness")
    assert steady(ended.out) == snapshot


def test_fences_that_can_replace_a_memory_order_are_named(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("relax", "dice_ptlqueue", "--fences").printed(0)) == snapshot


def test_json_is_an_object_a_line(run: Run) -> None:
    ended = run("relax", "duffy_wsq", "--json")
    whole, *findings = map(json.loads, ended.out.splitlines())
    assert whole["subject"] == "duffy_wsq"
    assert len(whole["weakest"][0]["orders"]) == len(whole["annotations"])
    assert {each["id"] for each in findings} == {"WS301"}


def test_a_loop_that_reaches_its_bound_is_inconclusive(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    relaxed = ENDLESS.replace("atomic_load(", "load(").replace("atomic_store(", "store(")
    (folder / "endless.c").write_text(
        relaxed.replace(
            "static atomic_int",
            "#define load(x) atomic_load_explicit(x, memory_order_relaxed)\n"
            "#define store(x, v) atomic_store_explicit(x, v, memory_order_relaxed)\n"
            "static atomic_int",
            1,
        ).replace("atomic_fetch_add(&turns, 1)", "store(&turns, load(&turns) + 1)")
    )
    assert steady(run("relax", "endless.c").printed(3)) == snapshot


def test_a_program_that_is_violated_as_it_is_cannot_be_relaxed(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("relax", "wrong.c").printed(1)) == snapshot


def test_results_are_compared_with_the_record_of_the_corpus(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    assert run("relax", "store_buffering", "dekker_locks", "--check").printed(0) == snapshot
    printed = run("relax", "store_buffering", "--check", "--executions", "2").printed(3)
    assert steady(printed) == snapshot


def test_the_change_is_printed_as_a_patch_and_made(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    source = folder / "mine.c"
    store = "atomic_store_explicit(&ready, 1, memory_order_{})"
    strong = (folder / "mp.c").read_text().replace(store.format("relaxed"), store.format("seq_cst"))
    source.write_text(strong)
    patch = run("relax", "mine.c", "--diff")
    assert patch.code == 1, patch.err
    assert patch.out == snapshot
    assert source.read_text() == strong
    applied = run("relax", "mine.c", "--apply")
    assert steady(applied.out, folder) == snapshot
    assert store.format("release") in source.read_text()
    assert run("relax", "mine.c").code == 0


def test_a_fence_in_the_place_of_a_memory_order_is_written_if_requested(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    source = folder / "mine.c"
    store = "atomic_store_explicit(&ready, 1, memory_order_{});"
    source.write_text(
        (folder / "mp.c").read_text().replace(store.format("relaxed"), store.format("release"))
    )
    shown = run("relax", "mine.c", "--fences")
    assert steady(shown.out) == snapshot
    applied = run("relax", "mine.c", "--fences", "--take", "2", "--apply")
    assert steady(applied.out, folder) == snapshot
    assert "atomic_thread_fence(memory_order_release);\n" in source.read_text()
    assert store.format("relaxed") in source.read_text()
    assert run("relax", "mine.c").code == 0


CPP = """\
#include <atomic>
#include <cassert>
#include <thread>
template <typename T> struct Box {
  T value{};
  std::atomic<bool> full{false};
  void put(T v) {
    value = v;
    full = true;
  }
  bool get(T &v) {
    if (!full.load()) return false;
    v = value;
    return true;
  }
};
static Box<int> one;
static Box<long> other;
int main() {
  std::thread t([] {
    one.put(42);
    other.put(43);
  });
  int a;
  long b;
  if (one.get(a)) assert(a == 42);
  if (other.get(b)) assert(b == 43);
  t.join();
}
"""


def test_the_instances_of_a_cpp_template_are_relaxed_together(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    source = folder / "box.cpp"
    source.write_text(CPP)
    applied = run("relax", "box.cpp", "--apply")
    assert applied.code == 1, applied.err
    assert steady(applied.out, folder) == snapshot
    assert source.read_text() == CPP.replace(
        "full = true", "full.store(true, std::memory_order_release)"
    ).replace("full.load()", "full.load(std::memory_order_acquire)")
    assert run("relax", "box.cpp").code == 0


def test_memory_orders_that_repair_a_program_that_is_too_weak_are_shown(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("relax", "mp.c").printed(1)) == snapshot


@pytest.mark.parametrize(
    "line",
    [
        "SB.litmus",
        "mp.c --model c11",
        "nothing.c",
        "mp.c --promote",
        "duffy_wsq --apply",
        "mp.c --apply --diff",
        "mp.c --take 2",
        "mp.c --take 9 --diff",
        "duffy_wsq --fences --check",
    ],
)
def test_arguments_that_cannot_be_relaxed_are_refused_with_advice(
    run: Run, snapshot: SnapshotAssertion, line: str
) -> None:
    assert steady(run("relax", *line.split()).reported(2)) == snapshot


WIDE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *one(void *mine) {
  for (int i = 0; i < 6; i++) atomic_store_explicit(&x, i, memory_order_release);
  return mine;
}
int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, one, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""


def test_a_search_ends_with_its_time_and_prints_what_is_known(run: Run, folder: Path) -> None:
    (folder / "wide.c").write_text(WIDE)
    begun = time.monotonic()
    ended = run("relax", "wide.c", "--for", "1s", "--seconds", "5m", "--executions", "1000000000")
    assert time.monotonic() - begun < 30  # of which an exploration would take minutes
    assert ended.code == 3, ended.err
    assert "the time limit was reached" in ended.out


def test_the_corpus_records_complete_searches(run: Run) -> None:
    assert "leave --for out" in run("relax", "duffy_wsq", "--for", "1s", "--promote").reported(2)
