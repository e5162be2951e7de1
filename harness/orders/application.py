"""Writes memory orders that `relax` found into the sources, and checks that the programs are then
what was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from weakspot.errors import BadInput, WeakspotError
from weakspot.generators.source.program import Program
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.program_groups import ProgramGroup
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.orders.rewrite import ByHand, Rewritten, rewrite
from weakspot.harness.values.annotations import annotate
from weakspot.harness.values.strength import Assignment, split


def refuse_corpus(groups: Iterable[ProgramGroup]) -> None:
    """Raises BadInput if a group's sources belong to the corpus."""
    if recorded := [each.name for each in groups if each.structure]:
        raise BadInput(
            "relax does not change sources of the corpus, which records them as published",
            place=recorded[0],
            advice="--diff prints the change",
        )


def rewritten(relaxed: Relaxed, take: int | None = None) -> Rewritten:
    """The change to the assignment with number `take`, or to the best one; see `_chosen`. No file
    is written."""
    return rewrite(relaxed.annotations, _chosen(relaxed, take))


def apply(
    relaxed: Relaxed,
    take: int | None,
    explorations: Explorations,
    reread: Callable[[], Sequence[tuple[str, Program]]],
) -> Rewritten:
    """Change the files to the assignment with number `take`, or to the best one. The programs are
    read again and explored; if they are not as intended, the files are restored.

    Raises BadInput if a limit was reached, so that the assignment may not be safe, and
    WeakspotError if the programs are not as intended after the change.
    """
    orders = _chosen(relaxed, take)
    change = rewrite(relaxed.annotations, orders)
    if change.after and not relaxed.decided:
        raise BadInput(
            "nothing is changed, because a limit was reached",
            place=relaxed.subject,
            advice="raise the limit with --loops, --executions or --seconds",
        )
    change.write(lambda: _confirm(reread(), relaxed, orders, change.by_hand, explorations))
    return change


def _chosen(relaxed: Relaxed, take: int | None) -> Assignment:
    """The assignment with number `take`, counted from one. Without a number, the best one, or the
    memory orders as written if they do not suffice. Raises BadInput if there are fewer."""
    if take is None:
        best = relaxed.best
        written = tuple(each.order for each in relaxed.annotations)
        return best.orders if best is not None and relaxed.suffices else written
    if take > len(relaxed.weakest):
        raise BadInput(
            f"there is no assignment {take}",
            place=relaxed.subject,
            advice=f"{len(relaxed.weakest)} were found; --fences searches for more",
        )
    return relaxed.weakest[take - 1].orders


def _confirm(
    programs: Sequence[tuple[str, Program]],
    relaxed: Relaxed,
    orders: Assignment,
    by_hand: Sequence[ByHand],
    explorations: Explorations,
) -> None:
    """Check that programs, read again after the change, have these memory orders and fences and are
    safe with them. Raises WeakspotError otherwise."""
    left = {each.annotation: each.left for each in by_hand}
    wanted = []
    for each, order in zip(relaxed.annotations, orders, strict=True):
        before, own, after = split(left.get(each, order))
        wanted += [(each.path, "F", before), (each.path, each.kind, own), (each.path, "F", after)]
    programs = [each for each in programs if each[0] in relaxed.scenarios]
    annotations, _ = annotate([program for _, program in programs])
    found = [(each.path, each.kind, each.order) for each in annotations]
    if sorted(found) != sorted(each for each in wanted if each[2] != "none"):
        raise WeakspotError("the rewritten source does not have the intended memory orders")
    for name, program in programs:
        if explorations.of(program, stop_at_first=False, threads=0)["result"] != "Safe":
            raise WeakspotError(f"{name} is not safe with the rewritten source")
