"""The measured costs of memory orders, and the prices that follow from them."""

from __future__ import annotations

import msgspec

from weakspot.harness.costs.comparisons import Timing
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.strength import at_most
from weakspot.harness.runners import TOO_LATE
from weakspot.harness.runners.whole_programs import Times
from weakspot.harness.values.histogram import INTERRUPTED


class OrderCost(msgspec.Struct, frozen=True, kw_only=True):
    """A memory order of an annotation. `same_as` is an earlier order with the same machine code;
    `why` is the reason why no program with the memory order exists, `problem` the same without the
    place that a compiler names, if it names one. A Timing is None if it could
    not be measured, and for the weakest memory order."""

    order: str
    same_as: str = ""
    alone: Timing | None = None
    together: Timing | None = None
    why: str = ""
    problem: str = ""


class SiteCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of an annotation's memory orders in a scenario, the weakest first. `alone` and
    `together` say how often a run executes the operation, None if it could not be counted."""

    annotation: Annotation
    scenario: str
    orders: tuple[OrderCost, ...]
    alone: Times | None = None
    together: Times | None = None

    @property
    def is_executed(self) -> bool:
        """Whether a thread is known to execute the operation."""
        return any(times.most for times in (self.alone, self.together) if times)


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a run's threads for a scenario as written, in nanoseconds, and how many
    operations with a memory order they execute; None if not measured, for the reason `why`."""

    scenario: str
    alone: float | None = None
    together: float | None = None
    operations: float | None = None
    why: str = ""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements of a program group on a machine; `turns` counts rounds."""

    subject: str
    machine: str
    emulated: bool
    runs: tuple[RunCost, ...]
    sites: tuple[SiteCost, ...]
    turns: int
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether each scenario and each memory order was measured."""
        orders = (order.why for site in self.sites for order in site.orders)
        return not any((*(run.why for run in self.runs), *orders))


def prices(site: SiteCost) -> dict[str, float]:
    """Nanoseconds by memory order, for ranking: a difference within the noise counts as zero, and
    no memory order is cheaper than a weaker one. Those without a program are left out; empty if the
    weakest has none, or if another was not measured."""
    found: dict[str, float] = {}
    weakest = site.orders[0].order
    for each in site.orders if not site.orders[0].why else ():
        if each.why in (TOO_LATE, INTERRUPTED):
            return {}
        if each.why:
            continue
        if each.order == weakest or each.same_as == weakest:
            own = 0.0
        else:
            timings = [one for one in (each.alone, each.together) if one is not None]
            if not timings:
                return {}
            own = max(0.0 if one.is_noise else one.ns for one in timings)
        below = [found[one] for one in found if at_most(one, each.order)]
        found[each.order] = max(0.0, own, *below)
    return found
