"""Changed sources, compiled: whether the programs then have the memory orders that were meant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from weakspot.errors import WeakspotError
from weakspot.generators.source import overlay
from weakspot.generators.source.program import Program
from weakspot.harness.edits.annotations import Annotation, annotate
from weakspot.harness.edits.changes import ByHand, Rewritten
from weakspot.harness.edits.rewrite import rewrite
from weakspot.harness.edits.strength import Assignment, split

Read = Callable[[str], Sequence[tuple[str, Program]]]
"""Compiles the programs with an additional option."""


def rewrite_and_compile(
    annotations: Sequence[Annotation], orders: Assignment, read: Read
) -> tuple[Rewritten, Sequence[tuple[str, Program]]]:
    """The change to these memory orders, and the programs with it, which have them and no others.
    Where what rests on types or macros does not compile to that, it is left to the user. Raises
    WeakspotError if the rest does not either."""
    for cautious in (False, True):
        change = rewrite(annotations, orders, cautious=cautious)
        if not change.after:
            return change, ()
        try:
            # the changed files are in place of those on the disk
            with tempfile.TemporaryDirectory(prefix="weakspot-") as folder:
                programs = read(overlay.option(change.after, Path(folder)))
            _check(programs, annotations, orders, change.by_hand)
        except WeakspotError:
            if cautious:
                raise
        else:
            break
    return change, programs


def _check(
    programs: Sequence[tuple[str, Program]],
    annotations: Sequence[Annotation],
    orders: Assignment,
    by_hand: Sequence[ByHand],
) -> None:
    """Check that programs, read again after the change, have these memory orders and fences. Raises
    WeakspotError otherwise."""
    left = {each.annotation: each.left for each in by_hand}
    wanted = []
    for each, order in zip(annotations, orders, strict=True):
        before, own, after = split(left.get(each, order))
        wanted += [(each.path, "F", before), (each.path, each.kind, own), (each.path, "F", after)]
    again, _ = annotate([program for _, program in programs])
    found = [(each.path, each.kind, each.order) for each in again]
    if sorted(found) != sorted(each for each in wanted if each[2] != "none"):
        raise WeakspotError(
            "nothing is changed: the rewritten source does not have the intended memory orders",
            place=", ".join(dict.fromkeys(each.path for each in annotations)),
        )
