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

from weakspot.harness.checkers.explorer import Bounds, asked
from weakspot.harness.corpus.models import Model
from weakspot.harness.orders.minimal import Values, below
from weakspot.harness.values.annotations import Annotated
from weakspot.harness.values.strength import Assignment, at_most

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


class Failing(msgspec.Struct, frozen=True):
    """Orders under which a scenario violates something: a kind of violation. What is not named is
    as strong as it may be."""

    orders: dict[int, str]
    scenario: str
    kind: str


class _Answer(msgspec.Struct, frozen=True):
    """`at` are the annotations of a violation's witness, `kind` is what it violates."""

    result: str  # Safe Violated Unknown
    at: frozenset[int] = frozenset()
    kind: str = ""


class Trials:
    """Scenes under one model. `choices` are the orders of each annotation that there are, the
    strongest last; more may be put there later. `explorations` is what was spent so far, `failed`
    what `fails` has found.

    `tolerated` are scenes whose loops are cut even under the orders that are known to suffice: of
    them it is enough that so many rounds are safe, and whoever tells a result says so. `unknown`
    are scenes of which a limit left some assignment open; that one is then not taken to suffice.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        choices: Sequence[Values],
        model: Model,
        bounds: Bounds,
        *,
        report: Report = lambda _: None,
    ) -> None:
        self.scenes, self.choices, self.model, self.bounds = scenes, choices, model, bounds
        self.explorations = 0
        self.failed: list[Failing] = []
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

    def fails(self, orders: Assignment) -> Assignment | None:
        """None if all scenes are safe; else an assignment that is not below under which some scene
        still is not: as strong as is easily found."""
        scene = self.failing(orders)
        if scene is None:
            return None
        top = [values[-1] for values in self.choices]
        used = self.scenes[scene].used
        grown = [*top]
        for number in used:
            grown[number] = orders[number]
        answer = self._answer(scene, orders)
        if answer.result != "Violated":
            return tuple(grown)
        grown = self._raised(scene, grown, answer)
        weak = {number: order for number, order in enumerate(grown) if order != top[number]}
        self.failed.append(Failing(weak, self.scenes[scene].name, answer.kind))
        return tuple(grown)

    def _raised(self, scene: int, grown: list[str], answer: _Answer) -> list[str]:
        """Orders that a scene violates something under, made stronger as long as it does."""
        used = self.scenes[scene].used
        # most often what has no part in the witness does not help
        others = [number for number in used if number not in answer.at]
        raised = list(grown)
        for number in others:
            raised[number] = self.choices[number][-1]
        if self.breaks(scene, tuple(raised)):
            grown, rest = raised, [number for number in used if number in answer.at]
        else:
            rest = [*others, *(number for number in used if number in answer.at)]
        for number in rest:
            between = [
                order
                for order in reversed(self.choices[number])
                if order != grown[number] and at_most(grown[number], order)
            ]
            for order in between:
                higher = [*grown[:number], order, *grown[number + 1 :]]
                if self.breaks(scene, tuple(higher)):
                    grown = higher
                    break
        return grown

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
        program = annotated.under(orders)
        found = asked(program, self.model, self.bounds, jobs=1, stop_at_first=True)
        if found["violations"]:
            (first, *_) = found["violations"]
            at = annotated.numbers(program, (each["site"] for each in first["witness"]["events"]))
            return _Answer("Violated", at, first["kind"])
        if (reasons := found["reasons"]) and not (scene in self.tolerated and within(found)):
            self.unknown[scene] = tuple(dict.fromkeys(reasons))
            return _Answer("Unknown")
        return _Answer("Safe")


def within(found: ExplorationDict) -> bool:
    """Whether loops were cut and nothing else was: all executions of so many rounds are known."""
    return bool(found["cut_sites"]) and not found["fixed"] and found["limit"] is None
