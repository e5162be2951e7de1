"""Programs explored under other memory orders: each question once, and not at all if a known
answer implies it.

What is violated under some memory orders is violated under all weaker ones, and what is safe is
safe under all stronger ones. Both hold for the models that programs are explored under (for RC11:
Lahav et al., PLDI 2017, section 7, strengthening). A result that rests on this is confirmed by an
exploration that does not, so a model without monotonicity can cost results but not make one wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from weakspot.harness.checkers.engine_answers import sentences_of
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.minimal import Values, below
from weakspot.harness.values.annotations import Annotated
from weakspot.harness.values.strength import Assignment, at_most

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

Report = Callable[[str], None]
"""Called with a description of the current step."""


class Scene(msgspec.Struct, frozen=True):
    """An included program: its name and its annotations."""

    name: str
    annotated: Annotated

    @property
    def used(self) -> tuple[int, ...]:
        """The numbers of its annotations."""
        return tuple(self.annotated.sites)


class Failing(msgspec.Struct, frozen=True):
    """Memory orders, by annotation number, under which a scenario violates something; the other
    annotations have their strongest memory order. `kind` is the kind of violation."""

    orders: dict[int, str]
    scenario: str
    kind: str


class _Answer(msgspec.Struct, frozen=True):
    """`at` are the annotations in a violation's witness, `kind` is the kind of violation."""

    result: str  # Safe Violated Unknown
    at: frozenset[int] = frozenset()
    kind: str = ""


class Trials:
    """Scenes under one model. `choices` are the candidate memory orders of each annotation, the
    strongest last; candidates can be added later. `explorations` counts what was explored so far,
    `failed` lists what `fails` has found.

    `tolerated` are scenes whose loop bound is reached even under memory orders known to suffice,
    however often it is doubled: for them, safety within the first bound is enough, and results
    state the bound. `unknown` are scenes
    for which a limit left some assignment undecided; such an assignment does not count as
    sufficient.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        choices: Sequence[Values],
        explorations: Explorations,
        *,
        report: Report = lambda _: None,
    ) -> None:
        self.scenes, self.choices = scenes, choices
        self.explorations = 0
        self.failed: list[Failing] = []
        self.tolerated: set[int] = set()
        self.unknown: dict[int, tuple[str, ...]] = {}
        self._questions, self._report = explorations, report
        self._known: list[dict[Assignment, _Answer]] = [{} for _ in scenes]
        self._order = list(range(len(scenes)))

    def suffices(self, scene: int, orders: Assignment) -> bool:
        """Whether the scene is safe as far as it is explored; false if that is unknown."""
        return self._answer(scene, orders).result == "Safe"

    def breaks(self, scene: int, orders: Assignment) -> bool:
        """Whether the scene violates something."""
        return self._answer(scene, orders).result == "Violated"

    def failing(self, orders: Assignment) -> int | None:
        """A scene that is not safe; the one that failed last is asked first."""
        for scene in self._order:
            if not self.suffices(scene, orders):
                self._order.remove(scene)
                self._order.insert(0, scene)
                return scene
        return None

    def fails(self, orders: Assignment) -> Assignment | None:
        """None if all scenes are safe; else an assignment at least as strong under which some scene
        is still not safe, as strong as a short search finds."""
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
        """Memory orders that violate a scene, strengthened as long as they still do."""
        used = self.scenes[scene].used
        # annotations outside the witness seldom matter
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
        # one worker, so that the first violation is always the same
        program = annotated.under(orders)
        found = self._questions.of(program, endless=scene in self.tolerated)
        if found["violations"]:
            (first, *_) = found["violations"]
            at = annotated.numbers(program, (each["site"] for each in first["witness"]["events"]))
            return _Answer("Violated", at, first["kind"])
        if found["reasons"] and not (scene in self.tolerated and within(found)):
            self.unknown[scene] = tuple(sentences_of(found))
            return _Answer("Unknown")
        return _Answer("Safe")


def within(found: ExplorationDict) -> bool:
    """Whether the loop bound is the only limit reached: all executions within it are known."""
    return found["limits"] == ["loops"] and found["limit"] is None
