"""Repairs of a program whose memory orders are too weak: the fewest annotations to strengthen, each
as little as suffices, confirmed by exploring every program again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from weakspot.generators.source.program import Program
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.minimal import minimal
from weakspot.harness.orders.trials import Report, Scene, Trials
from weakspot.harness.values.annotations import Annotated, Annotation, annotate
from weakspot.harness.values.strength import Assignment, cost, spelled, stronger, strongest


class Change(msgspec.Struct, frozen=True):
    """One annotation, the memory order written there, and the one to write."""

    annotation: Annotation
    before: str
    after: str

    def __str__(self) -> str:
        return f"{spelled(self.after)} at {self.annotation}"


class Repair(msgspec.Struct, frozen=True):
    """Changes that suffice together, none of them dispensable. `safe` names the programs that are
    safe with them, out of `programs` explored."""

    changes: tuple[Change, ...]
    safe: tuple[str, ...]
    programs: int

    def __str__(self) -> str:
        enough = "is enough" if len(self.changes) == 1 else "are enough together"
        all_of = "all " if len(self.safe) == self.programs > 1 else ""
        of = f" of {self.programs}" if len(self.safe) < self.programs else ""
        plural = "" if self.programs == 1 else "s"
        changes = " and ".join(map(str, self.changes))
        return f"{changes} {enough} for {all_of}{len(self.safe)}{of} scenario{plural}"


def repairs(
    programs: Sequence[tuple[str, Program]],
    violated: str,
    explorations: Explorations,
    *,
    most: int = 3,
    report: Report = lambda _: None,
) -> tuple[Repair, ...]:
    """The smallest repairs of the program named `violated`, at most `most`: those that change the
    fewest annotations, sorted by how many of the `programs` (pairs of name and program) are safe
    with them, then by cost. Empty if no memory order repairs the program or a limit is reached.

    A change with which a program that was safe is no longer safe is not a repair.
    """
    names = [name for name, _ in programs]
    annotations, annotated = annotate([program for _, program in programs])
    at = names.index(violated)
    own = annotated[at].orders
    # annotations that the program does not use keep a memory order that is written somewhere
    written = tuple(own.get(n, each.order) for n, each in enumerate(annotations))
    choices = [
        stronger(each.kind, mine) if n in own else (mine,)
        for n, (each, mine) in enumerate(zip(annotations, written, strict=True))
    ]
    trials = Trials([Scene(violated, annotated[at])], choices, explorations, report=report)
    if not trials.suffices(0, tuple(orders[-1] for orders in choices)):
        return ()

    def rank(assignment: Assignment) -> tuple[int, int]:
        changed = [n for n in own if assignment[n] != written[n]]
        return len(changed), sum(cost(annotations[n].kind, assignment[n]) for n in changed)

    found: list[Repair] = []
    fewest = len(annotations)
    for assignment in minimal(choices, trials.fails, rank):
        changed = {n: assignment[n] for n in own if assignment[n] != written[n]}
        if len(changed) > fewest or len(found) == 2 * most:
            break
        fewest = len(changed)
        changes = tuple(Change(annotations[n], written[n], order) for n, order in changed.items())
        report(f"confirming {changes[0]}")
        safe = _confirmed(names, annotated, annotations, changed, explorations)
        if violated in safe:
            found.append(Repair(changes, safe, len(names)))
    found.sort(key=lambda repair: -len(repair.safe))
    return tuple(found[:most])


def affordable(costs: Mapping[str, float], first: str, seconds: float) -> list[str]:
    """The programs on which a repair can be confirmed in so many seconds: `first`, then the
    others as long as they fit, the cheapest first. Each is explored with the repair, and again
    without it where it is not safe."""
    chosen = [first]
    spent = 2 * costs[first]
    for name in sorted(costs.keys() - {first}, key=lambda name: (costs[name], name)):
        spent += 2 * costs[name]
        if spent > seconds:
            break
        chosen.append(name)
    return chosen


def _confirmed(
    names: Sequence[str],
    annotated: Sequence[Annotated],
    annotations: Sequence[Annotation],
    changed: dict[int, str],
    explorations: Explorations,
) -> tuple[str, ...]:
    """The programs that are safe with the changes, each explored again; empty if one is safe only
    without them."""
    safe = []
    for name, each in zip(names, annotated, strict=True):
        orders = {
            site: strongest(annotations[n].kind, (each.orders[n], order))
            for n, order in changed.items()
            for site in each.sites.get(n, ())
        }
        if _safe(each.program.with_orders(orders), explorations):
            safe.append(name)
        elif orders and _safe(each.program, explorations):
            return ()
    return tuple(safe)


def _safe(program: Program, explorations: Explorations) -> bool:
    return explorations.of(program, threads=0)["result"] == "Safe"
