"""What a thread reads in vain in a loop is left out, but not what such a read shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from explored_programs import explored, kinds, program

from weakspot.harness.values.bounds import Part

if TYPE_CHECKING:
    from pathlib import Path

    from weakspot._engine import Program

COUNTING = """
atomic_int x, y;
void *count(void *unused) {
    for (int i = 1; i <= 3; i++) atomic_store_explicit(&x, i, memory_order_release);
    return 0;
}
void *wait(void *unused) {
    while (atomic_load_explicit(&x, memory_order_acquire) != LAST) {}
    return 0;
}
"""


@pytest.mark.parametrize("model", ["sc", "tso", "rc11", "rc20"])
@pytest.mark.parametrize("waiting", [1, 2, 3])
def test_what_a_thread_reads_in_vain_is_left_out(tmp_path: Path, model: str, waiting: int) -> None:
    """The search of revisits, and from three threads on the one that postpones reads."""
    threads = ["count", *["wait"] * waiting]
    ends = program(tmp_path, COUNTING.replace("LAST", "3"), *threads)
    some, every = explored(ends, model), explored(ends, model, part=Part(without=("waits",)))
    assert (some["result"], some["complete"], some["blocked"]) == ("Safe", 1, 0)
    assert (every["result"], every["complete"]) == ("Safe", 1)
    # each of them may read 0, 1 or 2; three behave alike, and then only races would count
    alike = 0 if model in {"sc", "tso"} else 19
    assert every["blocked"] == (4**waiting - 1 if waiting < 3 else alike)
    never = program(tmp_path, COUNTING.replace("LAST", "4"), *threads)
    assert (
        kinds(explored(never, model))
        == kinds(explored(never, model, part=Part(without=("waits",))))
        == {"hang"}
    )


def test_a_wait_for_one_of_several_values_ends_with_each(tmp_path: Path) -> None:
    """A later write that lets the thread wait again does not keep it from what was there before."""
    text = """
    atomic_int x; int sum;
    void *one(void *unused) { STORE(x, 1); STORE(x, 0); return 0; }
    void *two(void *unused) { STORE(x, 2); STORE(x, 0); return 0; }
    void *wait(void *unused) { int now; while (!(now = LOAD(x))) {} sum = now; return 0; }
    """
    for seen in (1, 2):
        checked = f"assert(sum != {seen});"
        waits = program(tmp_path, text, "one", "two", "wait", after=checked)
        some, every = (
            explored(waits, "rc20"),
            explored(waits, "rc20", part=Part(without=("waits",))),
        )
        assert (some["complete"], some["faulty"]) == (every["complete"], every["faulty"])
        assert kinds(some) == kinds(every) == {"assertion", "hang"}
        assert some["blocked"] < every["blocked"]


CONSUMERS = """
int main(void) {
    pthread_t t[1 + CONSUMERS];
    pthread_create(&t[0], 0, produce, 0);
    for (int i = 1; i <= CONSUMERS; i++) pthread_create(&t[i], 0, consume, 0);
    for (int i = 0; i <= CONSUMERS; i++) pthread_join(t[i], 0);
    return 0;
}
"""


def consuming(folder: Path, text: str, consumers: int) -> Program:
    return program(folder, text + CONSUMERS.replace("CONSUMERS", str(consumers)))


@pytest.mark.parametrize("consumers", [1, 3])
@pytest.mark.parametrize(("order", "found"), [("relaxed", {"memory"}), ("release", set[str]())])
def test_a_read_in_vain_may_not_be_ordered_with_the_allocation(
    tmp_path: Path, consumers: int, order: str, found: set[str]
) -> None:
    """The read that ends the wait is."""
    text = """
    struct box { atomic_int full; };
    _Atomic(struct box *) shared;
    void *produce(void *unused) {
        struct box *box = calloc(1, sizeof *box);
        atomic_store_explicit(&shared, box, memory_order_ORDER);
        atomic_store_explicit(&box->full, 1, memory_order_release);
        return 0;
    }
    void *consume(void *unused) {
        struct box *box = atomic_load_explicit(&shared, memory_order_acquire);
        if (box) while (!atomic_load_explicit(&box->full, memory_order_acquire)) {}
        return 0;
    }
    """
    assert (
        kinds(explored(consuming(tmp_path, text.replace("ORDER", order), consumers), "rc20"))
        == found
    )


@pytest.mark.parametrize("consumers", [1, 3])
def test_a_read_in_vain_may_race(tmp_path: Path, consumers: int) -> None:
    """The read that ends the wait does not."""
    text = """
    atomic_int full = 1;
    void *produce(void *unused) {
        *(int *)&full = 0;
        atomic_store_explicit(&full, 2, memory_order_release);
        return 0;
    }
    void *consume(void *unused) {
        while (atomic_load_explicit(&full, memory_order_acquire) != 2) {}
        return 0;
    }
    """
    assert kinds(explored(consuming(tmp_path, text, consumers), "rc20")) == {"race"}


@pytest.mark.parametrize("body", ["while (!v && !LOAD(x)) {}", "while (!v) v = LOAD(x);"])
@pytest.mark.parametrize("model", ["sc", "rc20"])
def test_the_read_before_a_loop_without_events_is_not_in_vain(
    tmp_path: Path, model: str, body: str
) -> None:
    """No other thread uses x, so that what the loop reads is not an event."""
    text = f"""
    atomic_int x, y;
    void *wait(void *unused) {{ int v = LOAD(y); {body} return 0; }}
    void *one(void *unused) {{ STORE(y, 1); return 0; }}
    """
    found = explored(program(tmp_path, text, "wait", "one"), model)
    assert (found["complete"], found["blocked"]) == (1, 1)
    assert kinds(found) == {"hang"}
