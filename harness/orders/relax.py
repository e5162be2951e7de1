"""The weakest memory orders that suffice for all programs of a group under one model.

The result is every assignment of memory orders, each at most that strong, under which all included
programs are safe and in which no memory order can be weakened (Pareto-minimal with respect to the
ordering guarantees). Monotonicity keeps the search short (`trials`), but no result
relies on it: each assignment is confirmed by a complete exploration of every program, and each
memory order in it by an execution that violates something when that one alone is one step weaker.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from weakspot.generators.cycles.patterns import Habits, habits
from weakspot.generators.pipeline import NamedProgram
from weakspot.harness.corpus.material import Report
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.strength import (
    Assignment,
    Guarantee,
    Values,
    at_most,
    cost,
    fenced,
    guarantees,
    instead,
    just_less,
    least,
    strongest,
    weaker,
)
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.exercise import Exercise
from weakspot.harness.orders.explorations import Explorations, within
from weakspot.harness.orders.relaxation import Need, Relaxed, Unexercised, Weakest
from weakspot.harness.orders.repairs import is_foreign
from weakspot.harness.orders.scenes import Inclusion, Scene, Version
from weakspot.harness.orders.trials import Trials, minimal
from weakspot.harness.values.exploration import Violation
from weakspot.system.durations import duration_text

if TYPE_CHECKING:
    from weakspot._engine import TraceDict

_ASSIGNMENTS = 200  # that are listed at most
_FENCED = 2000  # explorations that fences are looked for with at most
_TRACED = 400  # interleavings, to know how the events of a witness depend on one another


class _OutOfTimeError(Exception):
    """The explorations have reached their end."""


class Relaxing:
    """The search for the weakest memory orders of one version of a source, until the explorations
    end. `result` is available at any time, also after Ctrl-C."""

    def __init__(
        self,
        version: Version,
        explorations: Explorations,
        *,
        fences: bool = False,
        prices: Prices | None = None,
        report: Report = lambda _: None,
    ) -> None:
        self._version, self._prices, self._fences = version, prices, fences
        self._explorations, self._describe = explorations, report
        self._inclusion = Inclusion(version, explorations, self._report)
        self._count, self._started = 0, time.monotonic()
        self._notes: list[str] = []
        self._ended = self._suffices = self._late = False
        self._weakest: list[Weakest] = []
        self._unexercised: dict[int, Unexercised] = {}
        self._habits: dict[int, Habits] = {}
        self._traces: dict[int, TraceDict] = {}
        self._violations: dict[tuple[int, Assignment], Violation | None] = {}
        self._trials = Trials([], (), explorations)
        self._used: list[Annotation] = []

    def run(self) -> None:
        """Run the whole search, or what there is time for."""
        try:
            self._run()
        except _OutOfTimeError:
            self._late = True

    def _report(self, step: str) -> None:
        """Called before each step that takes long."""
        if self._explorations.end.passed:
            raise _OutOfTimeError
        self._describe(step)

    def _run(self) -> None:
        self._inclusion.run()
        self._used = self._inclusion.used
        self._trials = Trials(
            self._inclusion.scenes, self._inclusion.choices, self._explorations, report=self._report
        )
        self._trials.tolerated.update(self._inclusion.limited)
        if self.scenes:
            self._suffices = self._trials.failing(self._written) is None
            self._trials.choices = self._candidates()
            self._search()
        if self._fences and self._weakest:
            self._beside()
        self._ended = True

    @property
    def scenes(self) -> Sequence[Scene]:
        """The programs included; their annotations are numbered as in the result."""
        return self._trials.scenes

    @property
    def choices(self) -> Sequence[Values]:
        """The candidate memory orders of each annotation, the weakest first."""
        return self._trials.choices

    def result(self) -> Relaxed:
        """What is known so far."""
        inclusion, version = self._inclusion, self._version
        notes = [*inclusion.notes, *self._notes]
        for scene, reasons in self._trials.unknown.items():
            name = self._trials.scenes[scene].name
            notes.append(f"{name}: some weaker memory orders are undecided: {'; '.join(reasons)}")
        if not self._ended:
            why = "the time limit was reached" if self._late else "the search was interrupted"
            known = "other assignments may exist" if self.scenes else self._before_the_search()
            notes.append(f"{why}: {known}")
        return Relaxed(
            subject=version.name,
            version=version.alone,
            model=self._explorations.model.name,
            machine_models=tuple(each.name for each in self._explorations.also),
            annotations=tuple(self._used if self.scenes or self._ended else inclusion.annotations),
            scenarios=tuple(scene.name for scene in self._trials.scenes),
            left_out=tuple(inclusion.left_out),
            suffices=self._suffices,
            unexercised=dict(self._unexercised),
            weakest=tuple(self._weakest),
            notes=tuple(notes),
            decided=not notes,
            failing=() if self._ended else tuple(self._trials.failed),
            assignments=math.prod(len(orders) for orders in self.choices),
            explorations=inclusion.explorations + self._count + self._trials.explorations,
            seconds=round(time.monotonic() - self._started, 3),
            measured=self._measured,
            sequential=tuple(inclusion.sequential),
            clients=version.clients,
        )

    def _before_the_search(self) -> str:
        """How many of the explorations are done that choose the programs included: each program as
        it is written, then under the strongest memory orders."""
        total, done = 2 * len(self._version.programs), self._explorations.finished
        spent = time.monotonic() - self._explorations.begun
        left = f", of which all need about {duration_text(spent * total / done)}" if done else ""
        return (
            f"{min(done, total):,} of the {total:,} explorations were done that come before the "
            f"search{left}"
        )

    @property
    def _measured(self) -> bool:
        """Whether the cost of every candidate memory order has been measured."""
        return self._prices is not None and all(
            order in self._prices.of(each)
            for each, orders in zip(self._used, self.choices, strict=False)
            for order in orders
        )

    @property
    def _written(self) -> Assignment:
        return tuple(each.order for each in self._used)

    @property
    def _repairs(self) -> bool:
        """Whether memory orders are looked for that repair the user's own programs."""
        return not self._version.recorded and not self._suffices

    # --- the candidates ----------------------------------------------------------------------

    def _candidates(self) -> list[Values]:
        """The candidate memory orders of each annotation. Where those written do not suffice for
        the user's own programs, they are those at least as strong, which repair the programs. Else
        they are those that keep what no program exercises of the memory orders written."""
        if self._repairs:
            return [
                tuple(order for order in orders if at_most(written, order))
                for written, orders in zip(self._written, self.choices, strict=True)
            ]
        tops = [orders[-1] for orders in self.choices]
        if self._version.needs_repair:  # those that nothing repairs are excluded
            written = [each.annotated.orders for each in self.scenes]
            tops = [
                strongest(each.scale, [orders[n] for orders in written if n in orders])
                for n, each in enumerate(self._used)
            ]
        exercise = Exercise()
        for number, scene in enumerate(self.scenes):
            self._report(f"{scene.name}: what it exercises")
            exercise.add(self._trace_of(number)["runs"], scene.annotated)
        choices: list[Values] = [
            weaker(each.scale, top) for each, top in zip(self._used, tops, strict=True)
        ]
        bottoms: dict[int, tuple[str, frozenset[Guarantee]]] = {}
        for number, (each, top) in enumerate(zip(self._used, tops, strict=True)):
            kept = [
                guarantees("R" if failed else each.scale, own) - exercise.guarantees[number, failed]
                for own, failed in zip(top.split("/"), (False, True), strict=False)
            ]
            bottom = least(each.scale, choices[number], kept)
            if bottom != choices[number][0]:
                bottoms[number] = bottom, frozenset().union(*kept)
        # what an execution distinguishes is exercised, whatever the runs show
        self._trials.choices = choices
        for orders in minimal(choices, self._trials.fails, self._rank) if bottoms else ():
            for number in [n for n in bottoms if orders[n] != choices[n][0]]:
                del bottoms[number]
        for number, (bottom, missing) in bottoms.items():
            choices[number] = tuple(one for one in choices[number] if at_most(bottom, one))
            useless = {"acquire": "R", "release": "W"}.get("".join(missing), "")
            those = (self._used[other] for other in exercise.others[number])
            others = sorted(str(each) for each in those if each.kind != useless)
            self._unexercised[number] = Unexercised(
                guarantees=tuple(sorted(missing)), others=tuple(dict.fromkeys(others))
            )
        return choices

    def _rank(self, tried: Assignment) -> tuple[float, int]:
        """What an assignment costs; a repair also how much it changes."""
        pairs = list(zip(self._used, tried, strict=True))
        thought = sum(cost(each.scale, order) for each, order in pairs)
        if self._repairs:
            changed = [n for n, (each, order) in enumerate(pairs) if order != each.order]
            foreign = sum(n in self._foreign for n in changed)
            return len(changed) + foreign / (len(pairs) + 1), thought
        if self._prices is None or not self._measured:
            return 0.0, thought
        return sum(self._prices.of(each)[order] for each, order in pairs), thought

    # --- the search ---------------------------------------------------------------------------

    def _search(self, budget: float = math.inf) -> None:
        """Find the minimal assignments among the candidates, except those already known."""
        known = {each.orders for each in self._weakest}
        budget += self._trials.explorations
        for orders in minimal(self.choices, self._trials.fails, self._rank):
            if len(self._weakest) == _ASSIGNMENTS:
                self._notes.append(f"there are more than {_ASSIGNMENTS} minimal assignments")
                break
            if self._trials.explorations > budget:
                self._notes.append(
                    f"with fences there may be other assignments: "
                    f"{_FENCED:,} explorations did not find them all"
                )
                break
            if orders not in known:
                self._add(orders)

    def _add(self, orders: Assignment, *, sure: bool = True) -> None:
        """Confirm and justify an assignment that the search considers minimal; if `sure`, note
        when one is not confirmed."""
        executions = self._confirmed(orders)
        if isinstance(executions, int):
            needs = tuple(self._needs(orders, number) for number in range(len(orders)))
            self._weakest.append(Weakest(orders=orders, needs=needs, executions=executions))
        elif sure:
            self._notes.append(executions)

    def _beside(self) -> None:
        """Extend the search to fences beside those accesses that need more than the weakest
        memory order in some assignment: seq_cst fences where acquire and release do not suffice.

        Any memory order but seq_cst can be replaced by a relaxed access and a fence with the same
        guarantee. This holds at each access of each assignment; only the replacements in the
        cheapest assignment are listed, one access at a time.
        """
        known = [each.orders for each in self._weakest]
        full = all(any("sc" in order for order in orders) for orders in known)
        choices = [*self.choices]
        for number, annotation in enumerate(self._used):
            values = choices[number]
            if annotation.kind != "F" and any(each[number] != values[0] for each in known):
                choices[number] = tuple(
                    each
                    for each in fenced(annotation.scale, values[-1], full=full)
                    if at_most(values[0], each)
                )
        self._trials.choices = choices
        self._search(_FENCED)
        cheapest = known[0]
        for number, annotation in enumerate(self._used):
            for each in instead(annotation.scale, cheapest[number]):
                if not at_most(self.choices[number][0], each):
                    continue
                orders = (*cheapest[:number], each, *cheapest[number + 1 :])
                if self._is_minimal(orders):
                    self._add(orders, sure=False)

    def _is_minimal(self, orders: Assignment) -> bool:
        """Whether no memory order and no fence of a sufficient assignment can be weakened."""
        return all(
            self._trials.failing((*orders[:number], lower, *orders[number + 1 :])) is not None
            for number in range(len(self._used))
            for lower in self._just_less(number, orders[number])
        )

    def _just_less(self, number: int, order: str) -> list[str]:
        """The candidates for an annotation that are one step weaker than an order."""
        bottom = self.choices[number][0]
        steps = just_less(self._used[number].scale, order)
        return [each for each in steps if at_most(bottom, each)]

    def _confirmed(self, orders: Assignment) -> int | str:
        """The number of executions explored to confirm that the assignment suffices for every
        scene, or the reason why it is not confirmed."""
        executions = 0
        for number, scene in enumerate(self._trials.scenes):
            endless = number in self._trials.tolerated
            self._report(scene.name)
            self._count += 1
            program = scene.annotated.under(orders)
            exploration = self._explorations.of(program, stop_at_first=False, endless=endless)
            tolerated = endless and within(exploration)
            incomplete = exploration.reasons and not tolerated
            if exploration.violations or incomplete:
                return f"{scene.name}: not confirmed with {', '.join(orders)}: {exploration.result}"
            executions += exploration.executions
        return executions

    def _needs(self, orders: Assignment, number: int) -> tuple[Need, ...]:
        needs = []
        for lower in self._just_less(number, orders[number]):
            tried = (*orders[:number], lower, *orders[number + 1 :])
            scene = self._trials.failing(tried)
            violation = None if scene is None else self._violation(scene, tried)
            if scene is None or violation is None:
                self._notes.append(
                    f"{self._used[number]}: a violation with {lower} was not confirmed"
                )
                continue
            name = self._trials.scenes[scene].name
            needs.append(Need(below=lower, scenario=name, violation=violation))
        return tuple(needs)

    def _violation(self, number: int, orders: Assignment) -> Violation | None:
        """A violation of a scene under these orders, from an exploration of its own; one with a
        critical cycle is preferred."""
        scene = self._trials.scenes[number]
        here = (number, tuple(orders[at] for at in scene.used))
        if here not in self._violations:
            program = scene.annotated.under(orders)
            self._report(f"{scene.name}: why {' '.join(here[1])} is too weak")
            exploration = self._explorations.of(
                NamedProgram(program, self._habits_of(number), self._version.name, scene.name),
                stop_at_first=False,
            )
            self._count += 1
            self._violations[here] = min(
                exploration.violations, key=lambda one: (not one.test, one.size), default=None
            )
        return self._violations[here]

    def _habits_of(self, scene: int) -> Habits:
        if scene not in self._habits:
            self._habits[scene] = habits(self._trace_of(scene))
        return self._habits[scene]

    def _trace_of(self, scene: int) -> TraceDict:
        if scene not in self._traces:
            program = self._trials.scenes[scene].annotated.program
            self._traces[scene] = program.trace(
                loops=self._explorations.bounds.first_loops, interleavings=_TRACED, seed=0
            )
        return self._traces[scene]

    @cached_property
    def _foreign(self) -> frozenset[int]:
        """The annotations that every program has in its own file, or in a wrapper."""
        return frozenset(
            number
            for number, each in enumerate(self._used)
            if all(
                is_foreign(scene.annotated, each, number)
                for scene in self.scenes
                if number in scene.used
            )
        )
