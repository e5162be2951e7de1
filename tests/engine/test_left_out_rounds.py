"""Rounds of loops that change nothing are left out, but not the races of their accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from explored_programs import explored, kinds, program

if TYPE_CHECKING:
    from pathlib import Path

POP = """
struct node { int value; };
struct node *a, *b;
_Atomic(struct node *) top;
atomic_int done;
void *pop(void *unused) {
    struct node *old;
    int value;
    do {
        old = atomic_load_explicit(&top, ORDER);
        value = old->value;
    } while (!atomic_compare_exchange_STRENGTH_explicit(
        &top, &old, NULL, memory_order_relaxed, memory_order_relaxed));
    if (old == b) atomic_store_explicit(&done, 1, RELEASE);
    return 0;
}
void *change(void *unused) {
    struct node *old = a;
    atomic_compare_exchange_strong_explicit(
        &top, &old, b, memory_order_relaxed, memory_order_relaxed);
    return 0;
}
void *reuse(void *unused) {
    if (atomic_load_explicit(&done, ACQUIRE)) REUSE;
    return 0;
}
int main(void) {
    a = calloc(1, sizeof *a), b = calloc(1, sizeof *b);
    top = a;
    pthread_t t[3];
    pthread_create(&t[0], 0, pop, 0);
    pthread_create(&t[1], 0, change, 0);
    pthread_create(&t[2], 0, reuse, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
"""


def popping(folder: Path, reuse: str, *, ordered: bool, strength: str = "strong") -> set[str]:
    """What is reported if a node is reused as soon as a thread has popped the other one, after a
    round in which it has read this one."""
    text = POP.replace("REUSE", reuse).replace("STRENGTH", strength).replace("ORDER", "acquire")
    orders = ("release", "acquire") if ordered else ("relaxed", "relaxed")
    for name, order in zip(("RELEASE", "ACQUIRE"), orders, strict=True):
        text = text.replace(name, f"memory_order_{order}")
    text = text.replace("&top, acquire", "&top, memory_order_acquire")
    return kinds(explored(program(folder, text), "rc20"))


@pytest.mark.parametrize("strength", ["strong", "weak"])
@pytest.mark.parametrize(("reuse", "kind"), [("a->value = 1", "race"), ("free(a)", "memory")])
def test_a_read_in_a_round_that_fails_races_with_what_follows_the_loop(
    tmp_path: Path, reuse: str, kind: str, strength: str
) -> None:
    assert popping(tmp_path, reuse, ordered=False, strength=strength) == {kind}
    assert popping(tmp_path, reuse, ordered=True, strength=strength) == set()


TAKE = """
atomic_int lock = 1, done;
void *take(void *unused) {
    while (EXCHANGE);
    return 0;
}
void *give(void *unused) {
    int before = LOOK;
    (void)before;
    atomic_store_explicit(&lock, 2, memory_order_release);
    return 0;
}
"""


@pytest.mark.parametrize(
    "exchange",
    [
        "atomic_exchange_explicit(&lock, 1, memory_order_acquire) == 1",
        "atomic_fetch_or_explicit(&lock, 1, memory_order_acquire) == 1",
        "atomic_fetch_add_explicit(&lock, 0, memory_order_acquire) == 1",
    ],
)
def test_a_write_that_changes_nothing_races_with_what_precedes_the_end_of_the_wait(
    tmp_path: Path, exchange: str
) -> None:
    taking = TAKE.replace("EXCHANGE", exchange)
    for look, found in [("*(volatile int *)&lock", {"race"}), ("LOAD(lock)", set[str]())]:
        text = taking.replace("LOOK", look)
        assert kinds(explored(program(tmp_path, text, "take", "give"), "rc20")) == found


COUNT = """
atomic_int *count, ready, done;
void *wait(void *unused) {
    BEFORE;
    while (!atomic_load_explicit(&ready, memory_order_acquire)) ROUND;
    atomic_store_explicit(&done, 1, RELEASE);
    return 0;
}
void *finish(void *unused) {
    atomic_store_explicit(&ready, 1, memory_order_release);
    while (!atomic_load_explicit(&done, ACQUIRE));
    AFTER;
    return 0;
}
__attribute__((constructor)) void allocate(void) {
    count = malloc(sizeof *count);
    atomic_init(count, 0);
}
"""


@pytest.mark.parametrize(
    ("before", "each"),
    [
        ("", "atomic_fetch_add_explicit(count, 1, memory_order_relaxed)"),
        ("STORE(*count, 1)", "STORE(*count, 1)"),
    ],
)
@pytest.mark.parametrize(
    ("after", "kind"),
    [
        ("free(count)", "memory"),
        ("*(volatile int *)count = 3", "race"),
        ("int seen = *(volatile int *)count; (void)seen", "race"),
    ],
)
def test_a_write_in_a_round_races_with_what_follows_the_loop(
    tmp_path: Path, before: str, each: str, after: str, kind: str
) -> None:
    text = COUNT.replace("BEFORE", before).replace("ROUND", each).replace("AFTER", after)
    relaxed = text.replace("RELEASE", "memory_order_relaxed")
    relaxed = relaxed.replace("ACQUIRE", "memory_order_relaxed")
    assert kinds(explored(program(tmp_path, relaxed, "wait", "finish"), "rc20")) == {kind}
    ordered = text.replace("RELEASE", "memory_order_release")
    ordered = ordered.replace("ACQUIRE", "memory_order_acquire")
    found = explored(program(tmp_path, ordered, "wait", "finish"), "rc20")
    assert kinds(found) == set()


ATTEMPT = """
atomic_int *node, top, linked;
void *push(void *unused) {
    int expected;
    do {
        expected = 0;
        STORE(*node, 1);
        atomic_store_explicit(&linked, 1, memory_order_release);
    } while (!atomic_compare_exchange_weak_explicit(
        &top, &expected, 1, memory_order_relaxed, memory_order_relaxed));
    return 0;
}
void *release(void *unused) {
    while (!atomic_load_explicit(&linked, memory_order_acquire));
    free(node);
    return 0;
}
__attribute__((constructor)) void allocate(void) { node = malloc(sizeof *node); }
"""


def test_a_write_before_another_attempt_may_be_to_freed_memory(tmp_path: Path) -> None:
    assert kinds(explored(program(tmp_path, ATTEMPT, "push", "release"), "rc20")) == {"memory"}


@pytest.mark.parametrize("strength", ["weak", "strong"])
@pytest.mark.parametrize("writes", ["", "atomic_store_explicit(&box, 1, memory_order_relaxed);"])
def test_a_read_after_a_failure_for_no_reason_races(
    tmp_path: Path, writes: str, strength: str
) -> None:
    """The loop comes to the same state twice: at its head, and at the exchange."""
    text = f"""
    int data; atomic_int box, taken;
    void *one(void *p) {{
        int free = 0;
        {writes}
        while (!atomic_compare_exchange_{strength}_explicit(
            &taken, &free, 1, memory_order_relaxed, memory_order_relaxed)) {{
            if (data) free = 0;
            {writes}
        }}
        return 0;
    }}
    void *two(void *p) {{
        if (box < 2 && atomic_load_explicit(&taken, memory_order_relaxed)) data = 1;
        return 0;
    }}
    """
    found = explored(program(tmp_path, text, "one", "two"), "rc20")
    expected = {"race"} if strength == "weak" else set()
    assert (kinds(found), found["truncated"]) == (expected, 0)
