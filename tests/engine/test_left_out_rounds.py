"""Rounds of loops that change nothing are left out, but not the races of what they read."""

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
