"""Programs explored under other memory orders: each question once, and not at all if a known
answer implies it.

What is violated under some memory orders is violated under all weaker ones, and what is safe is
safe under all stronger ones. Both hold for the models that programs are explored under (for RC11:
Lahav et al., PLDI 2017, section 7, strengthening). A result that rests on this is confirmed by an
exploration that does not, so a model without monotonicity can cost results but not make one wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from weakspot.harness.corpus.material import Report
from weakspot.harness.edits.strength import Assignment, Values, at_most, below
from weakspot.harness.orders.explorations import Explorations, within
from weakspot.harness.orders.relaxation import Failing
from weakspot.harness.orders.scenes import Scene


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
        self._explorations, self._report = explorations, report
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
        exploration = self._explorations.of(program, endless=scene in self.tolerated)
        if exploration.violations:
            at = annotated.numbers(program, exploration.witness_sites)
            return _Answer("Violated", at, exploration.violations[0].kind)
        tolerated = scene in self.tolerated and within(exploration)
        if (reasons := exploration.reasons) and not tolerated:
            self.unknown[scene] = tuple(dict.fromkeys(reasons))
            return _Answer("Unknown")
        return _Answer("Safe")


def minimal(
    variables: Sequence[Values],
    fails: Callable[[Assignment], Assignment | None],
    rank: Callable[[Assignment], object],
) -> Iterator[Assignment]:
    """All minimal sufficient assignments, in order of `rank`, which must be monotone, with few
    queries. `fails` returns None for an assignment that suffices, else a failing assignment at
    least as large.

    Each query concerns a minimal assignment among those not yet known to fail. The answer is either
    that it suffices, and then it is a minimal sufficient one, or a failing assignment above it, the
    larger the better, since everything below that fails too. Berge's multiplication, one variable
    raised at a time, keeps the set of remaining minimal assignments up to date. In terms of sets
    this is the dualisation of Gunopulos, Khardon, Mannila, Saluja, Toivonen and Sharma
    ("Discovering all most specific sentences", TODS 2003) and the enumeration of MARCO (Liffiton,
    Previti, Malik, Marques-Silva, Constraints 2016) without a solver.
    """
    left: list[Assignment] = [tuple(values[0] for values in variables)]
    sufficient: list[Assignment] = []
    while left:
        # ties are broken by the assignment, so that the order is always the same
        left.sort(key=lambda each: (rank(each), each), reverse=True)
        tried = left.pop()
        failing = fails(tried)
        if failing is None:
            sufficient.append(tried)
            yield tried
            continue
        assert below(tried, failing), "the failing assignment is not above the one asked about"
        left.append(tried)
        stay = [each for each in left if not below(each, failing)]
        raised = {
            more
            for each in left
            if below(each, failing)
            for more in _beyond(variables, each, failing)
            if not any(below(one, more) for one in (*stay, *sufficient))
        }
        left = stay + [
            each for each in raised if not any(one != each and below(one, each) for one in raised)
        ]


def _beyond(
    variables: Sequence[Values], each: Assignment, failing: Assignment
) -> Iterator[Assignment]:
    """The least assignments above one that are not below a failing one: one value is raised."""
    for at, (values, value, bound) in enumerate(zip(variables, each, failing, strict=True)):
        out = [more for more in values if at_most(value, more) and not at_most(more, bound)]
        for more in out:
            if not any(one != more and at_most(one, more) for one in out):
                yield (*each[:at], more, *each[at + 1 :])
