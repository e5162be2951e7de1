"""Fences in place of orders: of an assignment that suffices, which accesses may be weaker when a
fence stands beside them.

A release fence before a store, an acquire fence after a load, and a fence that is seq_cst on either
side are what C11 gives the sense of a stronger access (7.17.4). One access is replaced at a time;
what other orders are then stronger than needed is weakened too, each as far as it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from weakspot.harness.annotations import Annotation, Assignment, cost, just_below, weaker
from weakspot.harness.checkers.explore import Bounds, asked
from weakspot.harness.minimal import minimal
from weakspot.harness.models import Model
from weakspot.harness.trials import Report, Scene

_BEFORE, _AFTER = ("none", "rel", "sc"), ("none", "acq", "sc")


class Fenced(msgspec.Struct, frozen=True, kw_only=True):
    """An assignment in which one annotation, by its number, has a fence `before` or `after` it, or
    both; "none" where there is none."""

    annotation: int
    before: str
    after: str
    orders: Assignment


class Fences:
    """Looks for them; `explorations` is what was spent. Every answer was explored as it is."""

    def __init__(
        self,
        scenes: Sequence[Scene],
        annotations: Sequence[Annotation],
        model: Model,
        bounds: Bounds,
        report: Report,
    ) -> None:
        self._annotations, self._model, self._bounds = annotations, model, bounds
        self._order, self._report = list(scenes), report
        self.explorations = 0

    def beside(self, orders: Assignment) -> Iterator[Fenced]:
        """The alternatives to an assignment, each minimal."""
        for number, annotation in enumerate(self._annotations):
            if annotation.kind != "F":
                yield from map(self._weakened, self._instead(orders, number))

    def _instead(self, orders: Assignment, number: int) -> Iterator[Fenced]:
        """The least fences with which one order may be weaker."""
        kind = self._annotations[number].kind
        lower = weaker(kind, orders[number])[:-1]

        def fenced(tried: Assignment) -> Fenced:
            own, before, after = tried
            all_orders = (*orders[:number], own, *orders[number + 1 :])
            return Fenced(annotation=number, before=before, after=after, orders=all_orders)

        def fails(tried: Assignment) -> Assignment | None:
            return None if self._suffices(fenced(tried)) else tried

        def rank(tried: Assignment) -> int:
            own, before, after = tried
            return cost(kind, own) + cost("F", before) + cost("F", after)

        if lower:
            yield from map(fenced, minimal([lower, _BEFORE, _AFTER], fails, rank))

    def _weakened(self, found: Fenced) -> Fenced:
        """With every order as weak as the fences allow, the dearest first."""
        numbers = sorted(
            range(len(found.orders)),
            key=lambda n: -cost(self._annotations[n].kind, found.orders[n]),
        )
        for number in numbers:
            further = True
            while further:
                further = False
                for lower in just_below(self._annotations[number].kind, found.orders[number]):
                    orders = (*found.orders[:number], lower, *found.orders[number + 1 :])
                    tried = msgspec.structs.replace(found, orders=orders)
                    if self._suffices(tried):
                        found, further = tried, True
                        break
        return found

    def _suffices(self, tried: Fenced) -> bool:
        for scene in self._order:
            self._report(f"fences beside {self._annotations[tried.annotation]}: {scene.name}")
            self.explorations += 1
            fences = [
                (site, side, order)
                for site in scene.annotated.sites.get(tried.annotation, ())
                for side, order in (("before", tried.before), ("after", tried.after))
                if order != "none"
            ]
            program = scene.annotated.under(tried.orders, fences)
            found = asked(program, self._model, self._bounds, jobs=1, stop_at_first=True)
            if found["result"] != "Safe":
                self._order.remove(scene)
                self._order.insert(0, scene)
                return False
        return True
