"""Writes memory orders that `relax` found into the sources, and checks that the programs are then
what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weakspot.errors import BadInput, WeakspotError
from weakspot.generators.source.program import Program
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.edits.changes import Rewritten
from weakspot.harness.edits.rewrite import rewrite
from weakspot.harness.edits.strength import Assignment
from weakspot.harness.edits.verification import Read, rewrite_and_compile
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.relaxation import Relaxed


def refuse_corpus(groups: Iterable[ProgramGroup]) -> None:
    """Raises BadInput if a group's sources belong to the corpus."""
    if recorded := [each.name for each in groups if each.structure]:
        raise BadInput(
            "relax does not change sources of the corpus, which records them as published",
            place=recorded[0],
            advice="--diff prints the change",
        )


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
        if explorations.of(program, stop_at_first=False, threads=0).result != "Safe":
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
        lambda option: [named for named in read(option) if named[0] in relaxed.scenarios],
    )


def _chosen(relaxed: Relaxed, take: int | None) -> Assignment:
    """The assignment with number `take`, counted from one. Without a number, the best one, or the
    memory orders as written if they do not suffice. Raises BadInput if there are fewer."""
    if take is None:
        best = relaxed.best
        written = tuple(annotation.order for annotation in relaxed.annotations)
        return best.orders if best is not None else written
    if take > len(relaxed.weakest):
        raise BadInput(
            f"there is no assignment {take}",
            place=relaxed.subject,
            advice=f"{len(relaxed.weakest)} were found; --fences searches for more",
        )
    return relaxed.weakest[take - 1].orders
