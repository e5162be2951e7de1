"""What relax would write into the sources of the corpus are the memory orders that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from weakspot.generators.source.program import Program, read_program
from weakspot.harness.corpus.resolution import base_of, build_of
from weakspot.harness.corpus.structures import Structure, structures
from weakspot.harness.edits.annotations import Annotated, Annotation, annotate
from weakspot.harness.edits.strength import Assignment, allowed
from weakspot.harness.edits.verification import rewrite_and_compile
from weakspot.harness.values.claims import Weakest

STRUCTURES = [each for each in structures() if each.weakest]
by_name = pytest.mark.parametrize("structure", STRUCTURES, ids=[each.name for each in STRUCTURES])
#: where the orders of one macro are to differ, an order is left to the user
BY_HAND = {
    "duffy_wsq": 1,
    "lost_wakeups": 1,
    "pheet_centralk": 6,
    "qspinlock": 1,
    "sync_primitives": 38,
}


def read(structure: Structure, names: Sequence[str], *flags: str) -> list[tuple[str, Program]]:
    return [
        (
            each.name,
            read_program(
                structure.path(each),
                build=build_of(structure, each).with_flags(flags),
                base=base_of(structure),
            ),
        )
        for each in structure.scenarios
        if each.name in names
    ]


def key(annotation: Annotation) -> tuple[str, str, str]:
    at = f"{annotation.file}:{annotation.line}:{annotation.column}"
    return at, annotation.operation, annotation.order


def recorded(table: Weakest) -> Iterator[dict[tuple[str, str, str], str]]:
    """The recorded assignments, by annotation."""
    for number in range(len(table.orders[0].weakest)):
        yield {(one.at, one.operation, one.written): one.weakest[number] for one in table.orders}


def covering(
    programs: Sequence[tuple[str, Program]], annotated: Sequence[Annotated], changed: set[int]
) -> list[str]:
    """Programs that together have all annotations that change."""
    chosen, left = [], set(changed)
    while left:
        best = max(
            zip(programs, annotated, strict=True), key=lambda e: len(left & e[1].sites.keys())
        )
        chosen.append(best[0][0])
        left -= best[1].sites.keys()
    return chosen


def rewritten(
    structure: Structure, programs: Sequence[tuple[str, Program]], orders: Assignment
) -> int:
    """How many annotations are left to the user; all others have these orders afterwards."""
    annotations, annotated = annotate([program for _, program in programs])
    changed = {n for n, each in enumerate(annotations) if each.order != orders[n]}
    names = covering(programs, annotated, changed)
    own, _ = annotate([program for name, program in programs if name in names])
    order_of = dict(zip(map(key, annotations), orders, strict=True))
    change, _ = rewrite_and_compile(
        own,
        tuple(order_of[key(each)] for each in own),
        lambda option: read(structure, names, option),
    )
    assert bool(change.after) is (len(changed) > len(change.by_hand))
    return len(change.by_hand)


@by_name
def test_the_recorded_orders_are_written_where_they_are_printed(structure: Structure) -> None:
    left = 0
    for table in structure.weakest:
        programs = read(structure, table.scenarios)
        annotations, _ = annotate([program for _, program in programs])
        for orders in recorded(table):
            assert {key(each) for each in annotations} == set(orders)
            left += rewritten(structure, programs, tuple(orders[key(each)] for each in annotations))
    assert left == BY_HAND.get(structure.name, 0)


@pytest.mark.full
@by_name
def test_the_strongest_orders_can_be_written_everywhere(structure: Structure) -> None:
    programs = read(structure, structure.weakest[0].scenarios)
    annotations, _ = annotate([program for _, program in programs])
    rewritten(structure, programs, tuple(allowed(each.kind)[-1] for each in annotations))
