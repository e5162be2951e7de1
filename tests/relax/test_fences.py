"""Where fences can take the place of orders: what is said is true of a source with these fences."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot.generators.program import read_program
from weakspot.harness import models
from weakspot.harness.checkers.explore import Bounds, asked
from weakspot.harness.relax import Relaxed, Relaxing, subjects

RC11 = models.resolve("rc11")
NAMES = {
    "rlx": "memory_order_relaxed",
    "acq": "memory_order_acquire",
    "rel": "memory_order_release",
    "sc": "memory_order_seq_cst",
}
#: each access with a place for a fence before and after it; the orders are macros
MP = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int message;
static atomic_int flag;
static void *sender(void *unused) {
    message = 42;
    BEFORE0 atomic_store_explicit(&flag, 1, ORDER0); AFTER0
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, sender, 0);
    BEFORE1 int seen = atomic_load_explicit(&flag, ORDER1); AFTER1
    if (seen)
        assert(message == 42);
    pthread_join(t, 0);
    return 0;
}
"""
SB = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x[2];
static int seen[2];
static void meet(int me) {
    BEFORE0 atomic_store_explicit(&x[me], 1, ORDER0); AFTER0
    BEFORE1 seen[me] = atomic_load_explicit(&x[1 - me], ORDER1); AFTER1
}
static void *other(void *unused) { meet(1); return unused; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    meet(0);
    pthread_join(t, 0);
    assert(seen[0] || seen[1]);
    return 0;
}
"""


def written(folder: Path, text: str, orders: list[str], fences: dict[str, str]) -> Path:
    """The program with these orders, and fences at places like BEFORE0."""
    path = folder / "program.c"
    for number, order in enumerate(orders):
        text = text.replace(f"ORDER{number}", NAMES[order])
        for side in ("BEFORE", "AFTER"):
            fence = fences.get(f"{side}{number}", "none")
            call = f"atomic_thread_fence({NAMES[fence]});" if fence != "none" else ""
            text = text.replace(f"{side}{number}", call)
    path.write_text(text)
    return path


def relaxed(path: Path) -> Relaxed:
    (subject,) = subjects([str(path)])
    work = Relaxing(subject, RC11, Bounds(), fences=True)
    work.run()
    return work.result()


def is_safe(path: Path) -> bool:
    return asked(read_program(path), RC11, Bounds())["result"] == "Safe"


@pytest.mark.parametrize("text", [MP, SB], ids=["MP", "SB"])
def test_a_source_with_the_fences_that_are_named_is_safe(tmp_path: Path, text: str) -> None:
    found = relaxed(written(tmp_path, text, ["sc", "sc"], {}))
    assert found.fenced
    for each in found.fenced:
        sides = {
            f"BEFORE{each.annotation}": each.before,
            f"AFTER{each.annotation}": each.after,
        }
        orders = list(each.orders)
        assert is_safe(written(tmp_path, text, orders, sides)), each
        for side in [side for side, order in sides.items() if order != "none"]:
            assert not is_safe(written(tmp_path, text, orders, {**sides, side: "none"})), each


def test_each_half_of_message_passing_can_be_a_fence(tmp_path: Path) -> None:
    found = relaxed(written(tmp_path, MP, ["rel", "acq"], {}))
    said = {(each.annotation, each.before, each.after, each.orders) for each in found.fenced}
    assert said == {(0, "rel", "none", ("rlx", "acq")), (1, "none", "acq", ("rel", "rlx"))}


def test_one_fence_can_take_the_place_of_two_orders(tmp_path: Path) -> None:
    found = relaxed(written(tmp_path, SB, ["sc", "sc"], {}))
    assert [each.orders for each in found.weakest] == [("sc", "sc")]
    said = {(each.annotation, each.before, each.after, each.orders) for each in found.fenced}
    assert said == {(0, "none", "sc", ("rlx", "rlx")), (1, "sc", "none", ("rlx", "rlx"))}


def test_fences_are_looked_for_only_when_asked(tmp_path: Path) -> None:
    (subject,) = subjects([str(written(tmp_path, MP, ["rel", "acq"], {}))])
    work = Relaxing(subject, RC11, Bounds())
    work.run()
    assert work.result().fenced == ()
