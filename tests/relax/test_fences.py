"""Where fences can replace memory orders: the result holds for a source with these fences."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from relaxings import ran

from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.edits.strength import Assignment, below, split
from weakspot.harness.values.bounds import Bounds

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


def assignments(path: Path, *, fences: bool = True) -> list[Assignment]:
    return [each.orders for each in ran(path, fences=fences).result().weakest]


def is_safe(path: Path) -> bool:
    return asked(read_program(path), RC11, Bounds())["result"] == "Safe"


@pytest.mark.parametrize("text", [MP, SB], ids=["MP", "SB"])
def test_a_source_with_the_fences_that_are_named_is_safe_and_needs_each(
    tmp_path: Path, text: str
) -> None:
    found = assignments(written(tmp_path, text, ["sc", "sc"], {}))
    assert any("fence" in order for orders in found for order in orders)
    for each in found:
        split_up = [split(order) for order in each]
        orders = [own for _, own, _ in split_up]
        sides = {
            f"{side}{number}": fence
            for number, (before, _, after) in enumerate(split_up)
            for side, fence in (("BEFORE", before), ("AFTER", after))
            if fence != "none"
        }
        assert is_safe(written(tmp_path, text, orders, sides)), each
        for side in sides:
            assert not is_safe(written(tmp_path, text, orders, {**sides, side: "none"})), each


@pytest.mark.parametrize("text", [MP, SB], ids=["MP", "SB"])
def test_they_are_those_that_trying_every_order_and_fence_gives(tmp_path: Path, text: str) -> None:
    work = ran(written(tmp_path, text, ["sc", "sc"], {}), fences=True)
    (scene,) = work.scenes
    enough = [
        each
        for each in itertools.product(*work.choices)
        if asked(scene.annotated.under(each), RC11, Bounds())["result"] == "Safe"
    ]
    found = {each.orders for each in work.result().weakest}
    least = {each for each in enough if not any(one != each and below(one, each) for one in enough)}
    assert least <= found
    # the others are those with a fence in the place of one order
    first = work.result().weakest[0].orders
    for each in found - least:
        assert below(first, each)
        assert sum(one != other for one, other in zip(first, each, strict=True)) == 1


def test_each_half_of_message_passing_can_be_a_fence(tmp_path: Path) -> None:
    found = assignments(written(tmp_path, MP, ["rel", "acq"], {}))
    assert found == [("rel", "acq"), ("rel fence; rlx", "acq"), ("rel", "rlx; acq fence")]


def test_one_fence_can_take_the_place_of_two_orders(tmp_path: Path) -> None:
    found = assignments(written(tmp_path, SB, ["sc", "sc"], {}))
    assert found == [("sc", "sc"), ("rlx", "sc fence; rlx")]


def test_a_fence_that_is_enough_for_several_accesses_is_found(tmp_path: Path) -> None:
    """The second flag's release is not needed when a fence stands before the first."""
    text = MP.replace("static atomic_int flag;", "static atomic_int flag, other;").replace(
        "BEFORE0 atomic_store_explicit(&flag, 1, ORDER0); AFTER0",
        "atomic_store_explicit(&other, 1, ORDER0);\n"
        "    atomic_store_explicit(&flag, 1, memory_order_release);",
    )
    text = text.replace(
        "if (seen)", "if (seen || atomic_load_explicit(&other, memory_order_acquire))"
    )
    found = assignments(written(tmp_path, text, ["rel", "acq"], {}))
    assert found[0] == ("rel", "rel", "acq", "acq")
    assert ("rel fence; rlx", "rlx", "acq", "acq") in found


COUNTED = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct box { int value; atomic_int users; };
static void *use(void *unknown) {
    struct box *box = unknown;
    int value = box->value;
    (void)value;
    if (atomic_fetch_sub_explicit(&box->users, 1, memory_order_acq_rel) == 1)
        free(box);
    return 0;
}
int main(void) {
    pthread_t one, two;
    struct box *box = malloc(sizeof *box);
    box->value = 1;
    atomic_init(&box->users, 2);
    pthread_create(&one, 0, use, box);
    pthread_create(&two, 0, use, box);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"""


def test_a_release_fence_is_not_offered_where_the_access_itself_must_come_before_a_free(
    tmp_path: Path,
) -> None:
    """What the fence releases does not hold the decrement, which the free must come after."""
    found = ran(written(tmp_path, COUNTED, [], {}), fences=True).result()
    assert found.decided
    assert [each.orders for each in found.weakest] == [("acq_rel",), ("rel; acq fence",)]


def test_fences_are_looked_for_only_when_asked(tmp_path: Path) -> None:
    path = written(tmp_path, MP, ["rel", "acq"], {})
    assert assignments(path, fences=False) == [("rel", "acq")]


def test_a_search_for_fences_that_reaches_its_limit_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weakspot.harness.orders.relax._FENCED", 3)
    found = ran(written(tmp_path, SB, ["sc", "sc"], {}), fences=True).result()
    assert not found.decided
    assert any("with fences there may be other assignments" in note for note in found.notes)
