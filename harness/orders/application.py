"""Writes memory orders that `relax` found into the sources, and checks that the programs are then
what was meant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from weakspot.errors import BadInput, WeakspotError
from weakspot.generators.source import overlay
from weakspot.generators.source.program import Program
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.edits.rewrite import ByHand, Rewritten, rewrite
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.values.annotations import Annotation, annotate
from weakspot.harness.values.strength import Assignment, split


def refuse_corpus(groups: Iterable[ProgramGroup]) -> None:
    """Raises BadInput if a group's sources belong to the corpus."""
    if recorded := [each.name for each in groups if each.structure]:
        raise BadInput(
            "relax does not change sources of the corpus, which records them as published",
            place=recorded[0],
            advice="--diff prints the change",
        )


Read = Callable[[str], Sequence[tuple[str, Program]]]
"""Compiles the programs with an additional option."""


def proposal(
    relaxed: Relaxed, take: int | None, explorations: Explorations, read: Read
) -> Rewritten:
    """The change to the assignment with number `take`, or to the best one, as `rewritten` gives it;
    the programs are explored with it. No file of the user's is written.

    Raises BadInput if a limit was reached, so that the assignment may not be safe, and
    WeakspotError if the changed programs are not as intended.
    """
    if not relaxed.decided and rewrite(relaxed.annotations, _chosen(relaxed, take)).after:
        raise BadInput(
            "nothing is changed, because a limit was reached",
            place=relaxed.subject,
            advice="raise the limit with --loops, --executions or --seconds",
        )
    change, programs = rewritten(relaxed, take, read)
    for name, program in programs:
        if explorations.of(program, stop_at_first=False, threads=0)["result"] != "Safe":
            raise WeakspotError(
                "nothing is changed: the program is not safe with the rewritten source",
                place=name,
                advice="; ".join(f"{one.annotation}: {one.why}" for one in change.by_hand),
            )
    return change


def rewritten(
    relaxed: Relaxed, take: int | None, read: Read
) -> tuple[Rewritten, Sequence[tuple[str, Program]]]:
    """The change to the assignment with number `take`, or to the best one, see `_chosen`, and the
    programs with it. Raises what `rewrite_and_compile` raises."""
    return rewrite_and_compile(
        relaxed.annotations,
        _chosen(relaxed, take),
        lambda option: [each for each in read(option) if each[0] in relaxed.scenarios],
    )


def _chosen(relaxed: Relaxed, take: int | None) -> Assignment:
    """The assignment with number `take`, counted from one. Without a number, the best one, or the
    memory orders as written if they do not suffice. Raises BadInput if there are fewer."""
    if take is None:
        best = relaxed.best
        written = tuple(each.order for each in relaxed.annotations)
        return best.orders if best is not None else written
    if take > len(relaxed.weakest):
        raise BadInput(
            f"there is no assignment {take}",
            place=relaxed.subject,
            advice=f"{len(relaxed.weakest)} were found; --fences searches for more",
        )
    return relaxed.weakest[take - 1].orders


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
            programs = read_changed(change, read)
            _check(programs, annotations, orders, change.by_hand)
        except WeakspotError:
            if cautious:
                raise
        else:
            break
    return change, programs


def read_changed(change: Rewritten, read: Read) -> Sequence[tuple[str, Program]]:
    """The programs with the changed files in place of those on the disk."""
    with tempfile.TemporaryDirectory(prefix="weakspot-") as folder:
        return read(overlay.option(change.after, Path(folder)))


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
