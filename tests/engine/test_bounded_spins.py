"""Loops that look at a lock a limited number of times cost the same whatever the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from explored_programs import explored, kinds, program

if TYPE_CHECKING:
    from pathlib import Path

    from weakspot._engine import ExplorationDict

LOCK = """
atomic_int lock;
int counter;
void *increment(void *unused) {
    for (int i = 0; i < LOOKS; i++)
        if (LOAD(lock) == 0) break;
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire)) {}
    counter++;
    atomic_store_explicit(&lock, 0, RELEASE);
    return 0;
}
"""


def locking(
    folder: Path, looks: int, model: str, release: str = "memory_order_release"
) -> ExplorationDict:
    text = LOCK.replace("LOOKS", str(looks)).replace("RELEASE", release)
    return explored(program(folder, text, "increment", "increment", "increment"), model)


HELD = """
atomic_uint lock;
int counter;
void *increment(void *unused) {
    unsigned held = 0;
    for (;;) {
        while (!held)
            if (atomic_compare_exchange_weak_explicit(
                    &lock, &held, 1, memory_order_acquire, memory_order_relaxed)) {
                counter++;
                atomic_store_explicit(&lock, 0, RELEASE);
                return 0;
            }
        for (int i = 0; CONDITION; i++) held = LOAD(lock);
        while (held) held = LOAD(lock);
    }
}
"""


@pytest.mark.parametrize("condition", ["i < LOOKS && held", "held && i < LOOKS"])
@pytest.mark.parametrize("model", ["rc20", "imm"])
def test_what_was_read_may_be_looked_at_first_in_the_next_round(
    model: str, condition: str, tmp_path: Path
) -> None:
    text = HELD.replace("CONDITION", condition).replace("RELEASE", "memory_order_release")
    few, many = (
        explored(program(tmp_path, text.replace("LOOKS", looks), "increment", "increment"), model)
        for looks in ("2", "10000")
    )
    assert few["result"] == many["result"] == "Safe"
    assert (few["complete"], few["blocked"]) == (many["complete"], many["blocked"])


def test_a_round_that_compares_two_reads_is_not_left_out(tmp_path: Path) -> None:
    text = """
atomic_int x;
void *writer(void *unused) { STORE(x, 1); STORE(x, 2); return 0; }
void *reader(void *unused) {
    int seen = 0, changes = 0;
    for (int i = 0; i < 3 && seen < 2; i++) {
        int now = LOAD(x);
        if (now != seen) changes++;
        seen = now;
    }
    assert(changes < 2);
    return 0;
}
"""
    assert kinds(explored(program(tmp_path, text, "writer", "reader"), "rc20")) == {"assertion"}


@pytest.mark.parametrize("model", ["rc20", "tso"])
def test_the_limit_of_looks_costs_nothing(model: str, tmp_path: Path) -> None:
    few, many = (locking(tmp_path, looks, model) for looks in (2, 10_000))
    assert few["result"] == many["result"] == "Safe"
    assert (few["complete"], few["blocked"]) == (many["complete"], many["blocked"])


def test_an_error_is_found_however_often_a_thread_looks(tmp_path: Path) -> None:
    for looks in (1, 1000):
        found = locking(tmp_path, looks, "rc20", release="memory_order_relaxed")
        assert "race" in kinds(found)
