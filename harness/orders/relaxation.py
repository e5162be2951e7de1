"""What relax finds of programs under a model, as a value; what it says, and how it is written into
the source."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from weakspot.errors import BadInput, WeakspotError
from weakspot.generators.source.program import Program
from weakspot.harness.checkers.explorer import Bounds, asked
from weakspot.harness.corpus.models import Model
from weakspot.harness.orders.minimal import below
from weakspot.harness.orders.rewrite import ByHand
from weakspot.harness.orders.trials import Failing
from weakspot.harness.values.annotations import Annotation, annotate
from weakspot.harness.values.strength import Assignment, spelled, split
from weakspot.harness.values.verdict import Evidence, Finding, Violation


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Why an order is needed: with the one just `below` it, and all others as they are, this
    `violation` of the `scenario` is found."""

    below: str
    scenario: str
    violation: Violation


class Weakest(msgspec.Struct, frozen=True, kw_only=True):
    """A minimal assignment: the order of each annotation, and why it is no weaker: a Need for each
    order just below, none where it is the weakest there is. `executions` are those of all
    scenarios that were explored to confirm it."""

    orders: Assignment
    needs: tuple[tuple[Need, ...], ...]
    executions: int


def reason(needs: tuple[Need, ...]) -> str:
    """`rlx: race in push_vs_steal, MP+ponarlx+ctrlacqna`"""
    said = []
    for need in needs:
        test = f", {need.violation.test}" if need.violation.test else ""
        said.append(f"{need.below}: {need.violation.kind} in {need.scenario}{test}")
    return "; ".join(said)


class LeftOut(msgspec.Struct, frozen=True):
    """A program that takes no part. `violated`: it violates something under the strongest orders
    that it could take part with."""

    scenario: str
    why: str
    violated: bool = False


class Relaxed(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a structure under a model, or of one version of it: then `version` are the
    scenarios that it has alone.

    `weakest` are the minimal assignments, each with the orders of `annotations`, and the cheapest
    first: by what they were `measured` to cost on this machine, else by `strength.cost`. `suffices`
    says whether the orders as written do. `notes` say within which limits this holds, and what was
    not confirmed; `decided` is false then. Of a search that was cut `failing` tells what is known
    to be too weak. `assignments` is how many there are to choose from; `explorations` and `seconds`
    are what was spent.
    """

    subject: str
    version: tuple[str, ...]
    model: str
    annotations: tuple[Annotation, ...]
    scenarios: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    suffices: bool
    weakest: tuple[Weakest, ...]
    notes: tuple[str, ...]
    decided: bool
    failing: tuple[Failing, ...]
    assignments: int
    explorations: int
    seconds: float
    measured: bool = False

    @property
    def best(self) -> Weakest | None:
        """The cheapest minimal assignment that is nowhere stronger than what is written; without
        one the cheapest."""
        written = tuple(each.order for each in self.annotations)
        lower = [each for each in self.weakest if below(each.orders, written)]
        return next(iter(lower or self.weakest), None)


# --- what it says -----------------------------------------------------------------------------


def findings(relaxed: Relaxed) -> tuple[Finding, ...]:
    """WS301: one for each annotation that is stronger than in the best assignment. None
    where the orders as written do not suffice."""
    best = relaxed.best
    if best is None or not relaxed.suffices:
        return ()
    count = len(relaxed.scenarios)
    evidence = Evidence(
        "exploration",
        f"Safe under {relaxed.model} with all of the weakest orders together: "
        f"{_plural(best.executions, 'execution')} of {_plural(count, 'scenario')}",
    )
    return tuple(
        Finding(
            id="WS301",
            severity="warning",
            message=f"{each.operation} in {each.function} is {each.order}: "
            f"{order if order != 'none' else 'no fence'} is enough for "
            f"{'the program' if count == 1 else f'all {count} scenarios'}",
            subject=relaxed.subject,
            sites=(str(each),),
            evidence=(evidence,),
            fix="leave the fence out" if order == "none" else f"write {spelled(order)}",
        )
        for each, order in zip(relaxed.annotations, best.orders, strict=True)
        if order != each.order
    )


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


# --- writing it into the source ---------------------------------------------------------------


def chosen(relaxed: Relaxed, take: int | None) -> Assignment:
    """The assignment of that number, counted from one. Without a number the best, or what is
    written where that does not suffice. Raises BadInput where there are not so many."""
    if take is None:
        best = relaxed.best
        written = tuple(each.order for each in relaxed.annotations)
        return best.orders if best is not None and relaxed.suffices else written
    if take > len(relaxed.weakest):
        raise BadInput(
            f"there is no assignment {take}",
            place=relaxed.subject,
            advice=f"{len(relaxed.weakest)} were found; --fences looks for more",
        )
    return relaxed.weakest[take - 1].orders


def confirm(
    programs: Sequence[tuple[str, Program]],
    relaxed: Relaxed,
    orders: Assignment,
    by_hand: Sequence[ByHand],
    model: Model,
    bounds: Bounds,
) -> None:
    """That programs that were read anew, by their names, have these orders and fences, and are as
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
        raise WeakspotError("what was written does not have the orders that were meant")
    for name, program in programs:
        if asked(program, model, bounds)["result"] != "Safe":
            raise WeakspotError(f"{name} is not safe with what was written")
