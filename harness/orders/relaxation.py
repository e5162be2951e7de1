"""The result of relaxing programs under a model: its findings, and the memory orders to write."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from weakspot.errors import BadInput, WeakspotError
from weakspot.generators.source.program import Program
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.minimal import below
from weakspot.harness.orders.rewrite import ByHand
from weakspot.harness.orders.trials import Failing
from weakspot.harness.values.annotations import Annotation, annotate
from weakspot.harness.values.exploration import Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.strength import Assignment, spelled, split


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Why a memory order is needed: with the next weaker one, `below`, and all others unchanged,
    the `scenario` has this `violation`."""

    below: str
    scenario: str
    violation: Violation


class Weakest(msgspec.Struct, frozen=True, kw_only=True):
    """A minimal assignment: the memory order of each annotation, and for each a Need per next
    weaker order, none if it is the weakest there is. `executions` counts the executions of all
    scenarios that were explored to confirm it."""

    orders: Assignment
    needs: tuple[tuple[Need, ...], ...]
    executions: int


def reason(needs: tuple[Need, ...]) -> str:
    """`rlx: race in push_vs_steal, MP+ponarlx+ctrlacqna`"""
    reasons = []
    for need in needs:
        test = f", {need.violation.test}" if need.violation.test else ""
        reasons.append(f"{need.below}: {need.violation.kind} in {need.scenario}{test}")
    return "; ".join(reasons)


class LeftOut(msgspec.Struct, frozen=True):
    """An excluded program, and why. `violated`: it violates something even under the strongest
    memory orders considered."""

    scenario: str
    why: str
    violated: bool = False


class Relaxed(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a structure under a model, or for one version of it, in which case `version`
    names the scenarios of that version only.

    `weakest` are the minimal assignments, in the order of `annotations`, the cheapest first: by
    their measured cost on this machine if `measured`, else by `strength.cost`. `suffices` says
    whether the orders as written suffice. `notes` state the limits within which the result holds
    and what was not confirmed; `decided` is then false. After an interrupted search, `failing`
    holds what is known to be too weak. `assignments` is the size of the search space;
    `explorations` and `seconds` are the effort.
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
        """The cheapest minimal assignment that is nowhere stronger than the source, or else the
        cheapest of all."""
        written = tuple(each.order for each in self.annotations)
        lower = [each for each in self.weakest if below(each.orders, written)]
        return next(iter(lower or self.weakest), None)


# --- findings ---------------------------------------------------------------------------------


def findings(relaxed: Relaxed) -> tuple[Finding, ...]:
    """WS301 for each annotation that is stronger than in the best assignment; none if the orders as
    written do not suffice."""
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
            fix="remove the fence" if order == "none" else f"write {spelled(order)}",
        )
        for each, order in zip(relaxed.annotations, best.orders, strict=True)
        if order != each.order
    )


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


# --- the orders to write ----------------------------------------------------------------------


def chosen(relaxed: Relaxed, take: int | None) -> Assignment:
    """The assignment with number `take`, counted from one. Without a number, the best one, or the
    orders as written if they do not suffice. Raises BadInput if there are fewer."""
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


def confirm(
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
