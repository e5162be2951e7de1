"""The result of relaxing programs under a model, and its findings."""

from __future__ import annotations

import msgspec

from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.strength import Assignment, Guarantee, below
from weakspot.harness.values.exploration import Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.linearizability import Size
from weakspot.harness.values.numbers import amount

_OTHERS = 3  # places that are named at most


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Why a memory order is needed: with the next weaker one, `below`, and all others unchanged,
    the `scenario` has this `violation`."""

    below: str
    scenario: str
    violation: Violation


class Weakest(msgspec.Struct, frozen=True, kw_only=True):
    """A minimal assignment: the memory order of each annotation, and for each a Need per next
    weaker memory order, none if it is the weakest there is. `executions` counts the executions of
    all scenarios that were explored to confirm it."""

    orders: Assignment
    needs: tuple[tuple[Need, ...], ...]
    executions: int


def reason(annotation: Annotation, needs: tuple[Need, ...]) -> str:
    """`rlx: race in push_vs_steal, MP+ponarlx+ctrlacqna`"""
    reasons = []
    for need in needs:
        test = f", {need.violation.test}" if need.violation.test else ""
        below = annotation.named(need.below)
        reasons.append(f"{below}: {need.violation.kind} in {need.scenario}{test}")
    return "; ".join(reasons)


def wanted(annotation: Annotation, unexercised: Unexercised) -> str:
    """What a scenario does that exercises a memory order: `in which it reads what q.c:20 stores`"""
    *rest, last = unexercised.others[:_OTHERS] or ("another thread",)
    others = f"{', '.join(rest)} or {last}" if rest else last
    if annotation.kind == "F":
        return "in which other threads use what is accessed before and after it"
    if "sc" in unexercised.guarantees:
        return "in which another thread accesses its location at the same time"
    parts = {
        "acquire": f"it reads what {others} stores",
        "release": f"{others} reads what it stores",
    }
    reads = " and ".join(parts[guarantee] for guarantee in unexercised.guarantees)
    return f"in which {reads}, and the same data is accessed before and after"


class LeftOut(msgspec.Struct, frozen=True):
    """An excluded program, and why. `violated`: it violates something even under the strongest
    memory orders considered."""

    scenario: str
    why: str
    violated: bool = False


class Failing(msgspec.Struct, frozen=True):
    """Memory orders, by annotation number, under which a scenario violates something; the other
    annotations have their strongest memory order. `kind` is the kind of violation."""

    orders: dict[int, str]
    scenario: str
    kind: str


class Unexercised(msgspec.Struct, frozen=True, kw_only=True):
    """What no program exercises of the memory order of an annotation, so that it stays; `others`
    are the places in other threads that store what it reads, or read what it stores."""

    guarantees: tuple[Guarantee, ...]
    others: tuple[str, ...]


class Relaxed(msgspec.Struct, frozen=True, kw_only=True):
    """The result for a structure under a model, or for one version of it, in which case `version`
    names the scenarios of that version only. What is safe under the model is safe under the
    `machine_models` too. `clients`: the scenarios are the clients of an object, of at most this
    size.

    `weakest` are the minimal assignments, in the order of `annotations`, the cheapest first: by
    their measured cost on this machine if `measured`, else by `strength.cost`. `suffices` says
    whether the memory orders as written suffice; for the user's own programs, where they do not,
    `weakest` are repairs, nowhere weaker than what is written. `unexercised` are what no program
    exercises, by the number of the annotation. `notes` state the limits within which the result
    holds and what was not confirmed; `decided` is then false. After an interrupted search,
    `failing` holds what is known to be too weak. `assignments` is the size of the search space;
    `explorations` and `seconds` are the effort. `sequential` are the scenarios that start
    no thread.
    """

    subject: str
    version: tuple[str, ...]
    model: str
    machine_models: tuple[str, ...]
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
    sequential: tuple[str, ...] = ()
    unexercised: dict[int, Unexercised] = {}
    clients: Size | None = None

    @property
    def under(self) -> str:
        """The models, as messages name them."""
        return " and ".join((self.model, *self.machine_models))

    @property
    def checked(self) -> str:
        """The programs that the result holds for, as messages name them."""
        count = len(self.scenarios)
        if self.clients is not None and count and not self.left_out:
            return self.clients.covered(count)
        what = "client" if self.clients is not None else "scenario"
        return f"{'all ' if count > 1 else ''}{amount(count, what)}"

    @property
    def best(self) -> Weakest | None:
        """The cheapest minimal assignment that is nowhere stronger than the source, or else the
        cheapest of all."""
        written = tuple(each.order for each in self.annotations)
        lower = [each for each in self.weakest if below(each.orders, written)]
        return next(iter(lower or self.weakest), None)

    @property
    def fails_as_written(self) -> bool:
        """Whether a program violates something with the memory orders that are written."""
        too_weak = bool(self.scenarios) and not self.suffices
        return too_weak or any(each.violated for each in self.left_out)


# --- findings ---------------------------------------------------------------------------------


def findings(relaxed: Relaxed) -> tuple[Finding, ...]:
    """WS301 for each annotation that is stronger than in the best assignment; none if the
    memory orders as written do not suffice."""
    best = relaxed.best
    if best is None or not relaxed.suffices:
        return ()
    evidence = Evidence(
        "exploration",
        f"Safe under {relaxed.under} with all of the weakest memory orders together: "
        f"{amount(best.executions, 'execution')} of {relaxed.checked}",
    )
    return tuple(
        Finding(
            id="WS301",
            severity="warning",
            message=f"{_written(annotation)}: "
            f"{'safe without it' if order == 'none' else f'{annotation.named(order)} suffices'} "
            f"(checked in {relaxed.checked})",
            subject=relaxed.subject,
            sites=(str(annotation),),
            evidence=(evidence,),
            fix="remove the fence" if order == "none" else f"write {annotation.spelled(order)}",
        )
        for annotation, order in zip(relaxed.annotations, best.orders, strict=True)
        if order != annotation.order
    )


def _written(annotation: Annotation) -> str:
    """`store in push is sc`; `smp_mb in push` of the Linux kernel."""
    if annotation.kernel:
        return f"{annotation.named(annotation.order)} in {annotation.function}"
    return f"{annotation.operation} in {annotation.function} is {annotation.order}"
