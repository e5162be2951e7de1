"""Loops that retry with the value that they have read: a failed round need not be done."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import pytest
from explored_programs import MODELS, kinds, program

from weakspot.harness.values.bounds import Bounds, Part

if TYPE_CHECKING:
    from pathlib import Path

    from weakspot._engine import ExplorationDict, Program

ORDERED = ["sc", "tso", "rc11", "rc20"]
"""Models that order by program order."""


def found(explored: Program, model: str, *, every: bool = False, loops: int = 0) -> ExplorationDict:
    return explored.explore(
        str(MODELS / f"{model}.cat"),
        folders=[str(MODELS)],
        acyclic="dependencies" if model == "imm" else "program order",
        bounds=Bounds(loops=loops),
        part=Part(without=("symmetry", "retries", "undone-rounds") if every else ("symmetry",)),
    )


COUNT = """
atomic_int x;
SEEN
void *add(void *unused) {
    FIRST
    while (!atomic_compare_exchange_STRENGTH_explicit(
        &x, &now, now + 1, memory_order_relaxed, memory_order_relaxed)) { AGAIN }
    LAST
    return 0;
}
"""


def counting(
    folder: Path,
    threads: int,
    *,
    first: str = "int now = LOAD(x);",
    strength: str = "strong",
    again: str = "",
    last: str = "",
    seen: str = "",
) -> Program:
    """Threads that increment a counter by compare-exchange."""
    text = COUNT.replace("FIRST", first).replace("STRENGTH", strength).replace("AGAIN", again)
    text = text.replace("LAST", last).replace("SEEN", seen)
    return program(folder, text, *["add"] * threads, after=f"assert(x == {threads});")


@pytest.mark.parametrize("model", ORDERED)
@pytest.mark.parametrize("strength", ["strong", "weak"])
@pytest.mark.parametrize(("threads", "before"), [(2, 4), (3, 48), (4, 1536)])
def test_a_failed_round_that_another_value_makes_superfluous_is_blocked(
    tmp_path: Path, model: str, strength: str, threads: int, before: int
) -> None:
    explored = counting(tmp_path, threads, strength=strength)
    some, every = found(explored, model), found(explored, model, every=True)
    assert (some["result"], some["complete"]) == ("Safe", factorial(threads))
    assert (every["result"], every["complete"]) == ("Safe", before)
    if threads > 2:
        assert some["complete"] + some["blocked"] < every["complete"]


@pytest.mark.parametrize("model", ORDERED)
def test_more_rounds_than_the_bound_need_not_be_done(tmp_path: Path, model: str) -> None:
    """Another thread changes the location six times; four rounds are explored."""
    text = """
    atomic_int x;
    void *add(void *unused) {
        int now = LOAD(x);
        while (!atomic_compare_exchange_strong_explicit(
            &x, &now, now + 1, memory_order_relaxed, memory_order_relaxed)) {}
        return 0;
    }
    void *change(void *unused) { for (int i = 1; i <= 6; i++) STORE(x, 10 * i); return 0; }
    """
    explored = program(tmp_path, text, "add", "change")
    assert found(explored, model, loops=4)["result"] == "Safe"
    assert found(explored, model, every=True, loops=4)["truncated"]


@pytest.mark.parametrize(
    "differs",
    [
        # the first read may synchronise where the failed compare-exchange does not
        {"first": "int now = atomic_load_explicit(&x, memory_order_acquire);"},
        {"again": "rounds++;", "last": "STORE(y, rounds);", "seen": "atomic_int y;"},
        {"again": "STORE(y, 1);", "seen": "atomic_int y;"},
        {"again": "atomic_thread_fence(memory_order_acquire);"},
        {"again": "sum += now;", "last": "assert(sum < 100);"},
    ],
)
def test_rounds_that_leave_a_trace_are_done(tmp_path: Path, differs: dict[str, str]) -> None:
    first = differs.pop("first", "int now = LOAD(x);") + " int rounds = 0, sum = 0;"
    explored = counting(tmp_path, 2, first=first, **differs)
    some, every = found(explored, "rc20"), found(explored, "rc20", every=True)
    assert (some["complete"], some["blocked"]) == (every["complete"], every["blocked"])


def test_all_rounds_are_explored_under_a_model_that_orders_by_dependencies(tmp_path: Path) -> None:
    assert found(counting(tmp_path, 3), "imm")["complete"] == 48


WAIT = """
atomic_int x;
int data;
void *wait(void *unused) {
    int now = LOAD(x);
    while (now != 3) now = LOAD(x);
    USE
    return 0;
}
void *set(void *unused) { STORE(x, 1); DATA STORE(x, LAST); return 0; }
"""


@pytest.mark.parametrize("model", ORDERED)
@pytest.mark.parametrize("last", [2, 3])
def test_a_loop_that_carries_what_it_reads_waits(tmp_path: Path, model: str, last: int) -> None:
    text = WAIT.replace("USE", "").replace("DATA", "").replace("LAST", str(last))
    explored = program(tmp_path, text, "wait", "set")
    for every in (False, True):
        assert kinds(found(explored, model, every=every)) == (set() if last == 3 else {"hang"})


def test_a_race_after_a_round_that_is_left_out_is_reported(tmp_path: Path) -> None:
    text = WAIT.replace("USE", "data = 2;").replace("DATA", "data = 1;").replace("LAST", "3")
    explored = program(tmp_path, text, "wait", "set")
    assert kinds(found(explored, "rc20")) == {"race"}


def test_a_race_of_the_read_that_is_left_out_is_reported(tmp_path: Path) -> None:
    """The plain write follows the loop without synchronisation, and races with its reads."""
    text = """
    int x;
    atomic_int done;
    void *add(void *unused) {
        _Atomic(int) *at = (_Atomic(int) *)&x;
        int now = LOAD(*at);
        while (!atomic_compare_exchange_strong_explicit(
            at, &now, now + 1, memory_order_relaxed, memory_order_relaxed)) {}
        STORE(done, 1);
        return 0;
    }
    void *change(void *unused) { STORE(*(_Atomic(int) *)&x, 5); return 0; }
    void *clear(void *unused) { if (LOAD(done)) x = 0; return 0; }
    """
    explored = program(tmp_path, text, "add", "change", "clear")
    assert kinds(found(explored, "rc20")) == kinds(found(explored, "rc20", every=True)) == {"race"}


@pytest.mark.parametrize("model", [*ORDERED, "imm"])
def test_a_round_that_is_undone_is_explored(tmp_path: Path, model: str) -> None:
    """It has no net effect, but the writer sees it."""
    text = """
    atomic_int l = 256;
    void *reader(void *unused) {
        while (atomic_fetch_add(&l, 1) & 256) atomic_fetch_sub(&l, 1);
        return 0;
    }
    void *writer(void *unused) { assert(atomic_fetch_sub(&l, 256) == 256); return 0; }
    """
    assert "assertion" in kinds(found(program(tmp_path, text, "reader", "writer"), model))


READ_WRITE_LOCK = """
atomic_uint l;
int data;
void *reader(void *unused) {
    while (atomic_fetch_add_explicit(&l, 1, memory_order_acquire) & 256) {
        atomic_fetch_sub_explicit(&l, 1, memory_order_relaxed);
        while (LOAD(l) & 256) {}
    }
    assert(data != 1);
    INSIDE
    atomic_fetch_sub_explicit(&l, 1, memory_order_release);
    return 0;
}
void *writer(void *unused) {
    unsigned none = 0;
    while (!atomic_compare_exchange_strong_explicit(
        &l, &none, 256, memory_order_acquire, memory_order_relaxed)) none = 0;
    data = 1;
    data = 2;
    atomic_fetch_sub_explicit(&l, 256, memory_order_release);
    return 0;
}
"""


@pytest.mark.parametrize("model", ORDERED)
def test_rounds_that_are_undone_are_left_out_where_nobody_can_tell(
    tmp_path: Path, model: str
) -> None:
    text = READ_WRITE_LOCK.replace("INSIDE", "")
    locked = program(tmp_path, text, "writer", "reader", "reader", after="assert(l == 0);")
    some, every = found(locked, model), found(locked, model, every=True)
    assert (some["result"], some["complete"]) == ("Safe", 14)
    assert (every["result"], every["complete"]) == ("Safe", 442)


@pytest.mark.parametrize("model", ORDERED)
def test_a_thread_that_reads_the_same_again_and_again_hangs(tmp_path: Path, model: str) -> None:
    """It comes to the inner header in a state that it was in, before it comes to the outer one: no
    other thread uses z."""
    text = """
    atomic_int y, z;
    void *wait(void *unused) {
        while (!LOAD(y)) { STORE(z, 1); while (LOAD(z) > 1) {} }
        return 0;
    }
    void *other(void *unused) { STORE(y, 0); return 0; }
    """
    waiting = program(tmp_path, text, "wait", "other")
    assert kinds(found(waiting, model)) == kinds(found(waiting, model, every=True)) == {"hang"}


@pytest.mark.parametrize("model", ORDERED)
def test_a_reader_that_is_never_let_in_hangs(tmp_path: Path, model: str) -> None:
    text = "atomic_uint l = 256;" + READ_WRITE_LOCK.split(";", 1)[1].replace("INSIDE", "")
    assert kinds(found(program(tmp_path, text, "reader", "reader"), model)) == {"hang"}
    plain = text.replace("while (LOAD(l) & 256) {}", "")
    assert kinds(found(program(tmp_path, plain, "reader", "reader"), model)) == {"hang"}


@pytest.mark.parametrize("model", ["rc11", "rc20"])
def test_who_looks_at_the_number_after_what_the_reader_does_next_finds_it(
    tmp_path: Path, model: str
) -> None:
    """It reads an old value, once the reader has come past the round that was undone."""
    text = (
        READ_WRITE_LOCK.replace("INSIDE", "STORE(inside, 1);")
        + """
    void *observer(void *unused) {
        if (LOAD(inside)) assert(LOAD(l) != 257);
        return 0;
    }
    """
    )
    text = "atomic_int inside;" + text
    observed = program(tmp_path, text, "writer", "reader", "observer")
    assert kinds(found(observed, model)) == kinds(found(observed, model, every=True))
    assert kinds(found(observed, model)) == {"assertion"}
