"""Programs tried with other memory orders: each question is explored once, and is not explored
where an answer that is known implies it.

What breaks under some orders breaks under all weaker ones, and what is safe is so under all
stronger ones: both hold for the models that programs are explored under (of RC11: Lahav et al.,
PLDI 2017, section 7, strengthening). Whoever uses this for a result confirms it afterwards by
exploring without that, so that a model for which it does not hold costs results but tells no lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from weakspot.harness.annotations import Annotated, Annotation, Assignment, at_most, weaker
from weakspot.harness.checkers.explore import Bounds, asked
from weakspot.harness.minimal import below
from weakspot.harness.models import Model

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

Report = Callable[[str], None]
"""Told, from time to time, what is being done."""


class Scene(msgspec.Struct, frozen=True):
    """A program that takes part, by its name and its annotations."""

    name: str
    annotated: Annotated

    @property
    def used(self) -> tuple[int, ...]:
        """The numbers of its annotations."""
        return tuple(self.annotated.sites)


class _Answer(msgspec.Struct, frozen=True):
    """`at` are the annotations of a violation's witness."""

    result: str  # Safe Violated Unknown
    at: frozenset[int] = frozenset()


class Trials:
    """Scenes under one model. `explorations` is what was spent so far.

    `tolerated` are scenes whose loops are cut even under the orders that are known to suffice: of
    them it is enough that so many rounds are safe, and whoever tells a result says so. `unknown`
    are scenes of which a limit left some assignment open; that one is then not taken to suffice.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        annotations: Sequence[Annotation],
        model: Model,
        bounds: Bounds,
        *,
        report: Report = lambda _: None,
    ) -> None:
        self.scenes, self.annotations, self.model, self.bounds = scenes, annotations, model, bounds
        self.explorations = 0
        self.tolerated: set[int] = set()
        self.unknown: dict[int, tuple[str, ...]] = {}
        self._report = report
        self._known: list[dict[Assignment, _Answer]] = [{} for _ in scenes]
        self._order = list(range(len(scenes)))

    def suffices(self, scene: int, orders: Assignment) -> bool:
        """Whether the scene is safe, as far as it is explored. Unknown is not enough."""
        return self._answer(scene, orders).result == "Safe"

    def breaks(self, scene: int, orders: Assignment) -> bool:
        """Whether the scene violates something."""
        return self._answer(scene, orders).result == "Violated"

    def failing(self, orders: Assignment) -> int | None:
        """A scene that is not safe; the one that was not last time is asked first."""
        for scene in self._order:
            if not self.suffices(scene, orders):
                self._order.remove(scene)
                self._order.insert(0, scene)
                return scene
        return None

    def fails(self, orders: Assignment, top: Assignment) -> Assignment | None:
        """None if all scenes are safe; else an assignment that is not below, up to `top`, under
        which some scene still is not: as strong as is easily found."""
        scene = self.failing(orders)
        if scene is None:
            return None
        used = self.scenes[scene].used
        grown = list(top)
        for number in used:
            grown[number] = orders[number]
        answer = self._answer(scene, orders)
        if answer.result != "Violated":
            return tuple(grown)
        # most often what has no part in the witness does not help
        others = [number for number in used if number not in answer.at]
        raised = list(grown)
        for number in others:
            raised[number] = top[number]
        if self.breaks(scene, tuple(raised)):
            grown, rest = raised, [number for number in used if number in answer.at]
        else:
            rest = [*others, *(number for number in used if number in answer.at)]
        for number in rest:
            kind = self.annotations[number].kind
            between = [
                order
                for order in reversed(weaker(kind, top[number]))
                if order != grown[number] and at_most(grown[number], order)
            ]
            for order in between:
                higher = [*grown[:number], order, *grown[number + 1 :]]
                if self.breaks(scene, tuple(higher)):
                    grown = higher
                    break
        return tuple(grown)

    def _answer(self, scene: int, orders: Assignment) -> _Answer:
        known, used = self._known[scene], self.scenes[scene].used
        here = tuple(orders[number] for number in used)
        if here in known:
            return known[here]
        for other, answer in known.items():
            if answer.result == "Violated" and below(here, other):
                return answer
            if answer.result == "Safe" and below(other, here):
                return answer
        known[here] = answer = self._explored(scene, orders)
        return answer

    def _explored(self, scene: int, orders: Assignment) -> _Answer:
        self._report(f"{self.scenes[scene].name}, exploration {self.explorations + 1:,}")
        annotated = self.scenes[scene].annotated
        self.explorations += 1
        # one worker: what is found first is always the same
        found = asked(annotated.under(orders), self.model, self.bounds, jobs=1, stop_at_first=True)
        if found["violations"]:
            place = {site: number for number, all in annotated.sites.items() for site in all}
            events = found["violations"][0]["witness"]["events"]
            sites = (event["site"] for event in events)
            return _Answer("Violated", frozenset(place[s] for s in sites if s in place))
        if (reasons := found["reasons"]) and not (scene in self.tolerated and within(found)):
            self.unknown[scene] = tuple(dict.fromkeys(reasons))
            return _Answer("Unknown")
        return _Answer("Safe")


def within(found: ExplorationDict) -> bool:
    """Whether loops were cut and nothing else was: all executions of so many rounds are known."""
    return bool(found["cut_sites"]) and found["limit"] is None
