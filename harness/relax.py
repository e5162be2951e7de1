"""The weakest memory orders that suffice: for all programs of a structure, or of a user's file,
together, under one model.

Which programs take part: those that are safe under the strongest orders that any safe program of
the structure is written with, or, where none is safe as it is written, under the strongest there
are. A published mistake and its repair are one program then, and take part once; what no order
repairs takes no part. A program that a limit cuts even so takes part
within that limit, and the result says so.

What is found are all assignments of orders, each at most as strong as that, under which every
program is safe and of which no order can be weaker (Pareto-minimal by what orders give). They are
looked for with as few explorations as monotony allows (`minimal`, `trials`), and then nothing is
taken on trust: each assignment is confirmed by exploring every program anew and whole, and each
order in it by an execution that violates something when that order alone is one step weaker.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.errors import BadInput, WeakspotError
from weakspot.generators.patterns import Habits, habits
from weakspot.generators.program import Program, read_program
from weakspot.harness.annotations import (
    Annotated,
    Annotation,
    Assignment,
    allowed,
    annotate,
    cost,
    just_below,
    strongest,
    weaker,
)
from weakspot.harness.checkers.explore import Bounds, asked, explored
from weakspot.harness.fenced import Fenced, Fences
from weakspot.harness.material import resolve
from weakspot.harness.minimal import below, minimal
from weakspot.harness.models import Model
from weakspot.harness.repairs import spelled
from weakspot.harness.rewrite import ByHand, Rewritten, rewrite
from weakspot.harness.structures import Structure
from weakspot.harness.trials import Report, Scene, Trials, within
from weakspot.harness.verdict import Evidence, Finding, Violation

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

_ASSIGNMENTS = 200  # that are listed at most
_TRACED = 400  # interleavings, to know how the events of a witness depend on one another


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
    """What is known of a structure under a model.

    `weakest` are the minimal assignments, the cheapest first (`annotations.cost`), each with the
    orders of `annotations`; `fenced`, where they were asked for, what fences can take the place of
    in the first. `suffices` says whether the orders as written do. `notes` say within
    which limits this holds, and what was not confirmed; `decided` is false then. `assignments` is
    how many there are to choose from; `explorations` and `seconds` are what was spent.
    """

    subject: str
    model: str
    annotations: tuple[Annotation, ...]
    scenarios: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    suffices: bool
    weakest: tuple[Weakest, ...]
    fenced: tuple[Fenced, ...]
    notes: tuple[str, ...]
    decided: bool
    assignments: int
    explorations: int
    seconds: float

    @property
    def best(self) -> Weakest | None:
        """The cheapest minimal assignment that is nowhere stronger than what is written; without
        one the cheapest."""
        written = tuple(each.order for each in self.annotations)
        lower = [each for each in self.weakest if below(each.orders, written)]
        return next(iter(lower or self.weakest), None)


class Subject(msgspec.Struct, frozen=True):
    """What is relaxed together: programs by their names."""

    name: str
    programs: tuple[tuple[str, Program], ...]
    structure: Structure | None = None  # of the corpus


def subjects(
    what: Sequence[str],
    *,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    report: Report = lambda _: None,
) -> tuple[Subject, ...]:
    """Each structure that is named, and the user's own files together, which get the macros and
    the folders. Raises BadInput for a litmus test, which has no source; and what reading raises.
    """
    named, tests = resolve(what)
    if tests:
        raise BadInput(
            "a litmus test has no annotations to relax",
            place=str(tests[0].path),
            advice="name a C or C++ file, or a structure",
        )

    def read(structure: Structure) -> Iterator[tuple[str, Program]]:
        own = not structure.recorded
        for scenario in structure.scenarios:
            name = structure.name if own else scenario.name
            report(name)
            yield (
                name,
                read_program(
                    structure.path(scenario),
                    defines=(*scenario.defines, *(defines if own else ())),
                    include=include if own else (),
                ),
            )

    found = [Subject(each.name, tuple(read(each)), each) for each in named if each.recorded]
    if mine := [each for each in named if not each.recorded]:
        programs = tuple(program for each in mine for program in read(each))
        found.append(Subject(", ".join(each.name for each in mine), programs))
    return tuple(found)


class Relaxing:
    """Looks for the weakest orders of one subject; `result` may be asked for at any time, also
    after Ctrl-C."""

    def __init__(
        self,
        subject: Subject,
        model: Model,
        bounds: Bounds,
        *,
        fences: bool = False,
        report: Report = lambda _: None,
    ) -> None:
        self._model, self._bounds, self._report = model, bounds, report
        self._fences, self._fenced = fences, list[Fenced]()
        self._subject = subject.name
        self._names = [name for name, _ in subject.programs]
        self._all, self._annotated = annotate([program for _, program in subject.programs])
        self._explorations, self._started = 0, time.monotonic()
        self._left_out: list[LeftOut] = []
        self._notes: list[str] = []
        self._ended = self._suffices = False
        self._weakest: list[Weakest] = []
        self._habits: dict[int, Habits] = {}
        self._violations: dict[tuple[int, Assignment], Violation | None] = {}
        self._trials = Trials([], (), model, bounds)
        self._values: list[tuple[str, ...]] = []

    def run(self) -> None:
        """All of it."""
        strong = self._strongest()
        scenes, cut = self._scenes(strong)
        used = sorted({number for scene in scenes for number in scene.used})
        at = {number: place for place, number in enumerate(used)}
        annotations = [self._all[number] for number in used]
        top = tuple(strong[number] for number in used)
        self._trials = Trials(
            [Scene(scene.name, _renumbered(scene.annotated, at)) for scene in scenes],
            annotations,
            self._model,
            self._bounds,
            report=self._report,
        )
        self._trials.tolerated.update(cut)
        self._values = [
            weaker(each.kind, order) for each, order in zip(annotations, top, strict=True)
        ]
        if scenes:
            self._suffices = self._trials.failing(tuple(each.order for each in annotations)) is None
            self._search(top)
        if self._fences and self._weakest:
            self._beside(self._weakest[0].orders)
        self._ended = True

    @property
    def scenes(self) -> Sequence[Scene]:
        """The programs that take part; their annotations have the numbers of the result's."""
        return self._trials.scenes

    @property
    def choices(self) -> Sequence[tuple[str, ...]]:
        """The orders of each annotation that there are to choose from, the weakest first."""
        return self._values

    def result(self) -> Relaxed:
        """What is known so far."""
        annotations = tuple(self._trials.annotations)
        notes = [*self._notes]
        for scene, reasons in self._trials.unknown.items():
            name = self._trials.scenes[scene].name
            notes.append(f"{name}: some weaker orders are left open: {'; '.join(reasons)}")
        if not self._ended:
            notes.append("the search was cut: there may be other assignments")
        return Relaxed(
            subject=self._subject,
            model=self._model.name,
            annotations=annotations,
            scenarios=tuple(scene.name for scene in self._trials.scenes),
            left_out=tuple(self._left_out),
            suffices=self._suffices,
            weakest=tuple(self._weakest),
            fenced=tuple(self._fenced),
            notes=tuple(notes),
            decided=not notes,
            assignments=math.prod(len(values) for values in self._values),
            explorations=self._explorations + self._trials.explorations,
            seconds=round(time.monotonic() - self._started, 3),
        )

    # --- who takes part -----------------------------------------------------------------------

    def _strongest(self) -> Assignment:
        """For each annotation the strongest order that a program which is not violated is written
        with; of what only violated ones have, the strongest of theirs, and where all are violated
        the strongest there is."""
        good: list[list[str]] = [[] for _ in self._all]
        other: list[list[str]] = [[] for _ in self._all]
        for name, each in zip(self._names, self._annotated, strict=True):
            where = other if self._asked(name, each.program)["violations"] else good
            for number, order in each.orders.items():
                where[number].append(order)
        if not any(good):
            return tuple(allowed(each.kind)[-1] for each in self._all)
        return tuple(
            strongest(each.kind, good[number] or other[number])
            for number, each in enumerate(self._all)
        )

    def _scenes(self, top: Assignment) -> tuple[list[Scene], list[int]]:
        """The programs that take part, each once, and which of them a limit cuts."""
        scenes: list[Scene] = []
        cut: list[int] = []
        known: set[str] = set()
        for name, each in zip(self._names, self._annotated, strict=True):
            program = each.under(top)
            if program.digest in known:
                continue
            known.add(program.digest)
            if not each.sites:
                self._left_out.append(LeftOut(name, "it has no memory order to choose"))
                continue
            found = self._asked(name, program)
            if found["violations"]:
                kinds = ", ".join(dict.fromkeys(each["kind"] for each in found["violations"]))
                self._left_out.append(LeftOut(name, f"it is violated: {kinds}", violated=True))
                continue
            if found["reasons"]:
                self._notes.append(f"{name}: {'; '.join(found['reasons'])}")
                if not within(found):
                    self._left_out.append(LeftOut(name, "a limit leaves it open"))
                    continue
                cut.append(len(scenes))
            scenes.append(Scene(name, each))
        return scenes, cut

    # --- the search ---------------------------------------------------------------------------

    def _search(self, top: Assignment) -> None:
        kinds = [each.kind for each in self._trials.annotations]

        def fails(tried: Assignment) -> Assignment | None:
            return self._trials.fails(tried, top)

        def rank(tried: Assignment) -> int:
            return sum(map(cost, kinds, tried))

        for orders in minimal(self._values, fails, rank):
            if len(self._weakest) == _ASSIGNMENTS:
                self._notes.append(f"there are more than {_ASSIGNMENTS} minimal assignments")
                break
            if (executions := self._confirmed(orders)) is not None:
                needs = tuple(self._needs(orders, number) for number in range(len(orders)))
                self._weakest.append(Weakest(orders=orders, needs=needs, executions=executions))

    def _beside(self, orders: Assignment) -> None:
        fences = Fences(
            self.scenes, self._trials.annotations, self._model, self._bounds, self._report
        )
        self._fenced.extend(fences.beside(orders))
        self._explorations += fences.explorations

    def _confirmed(self, orders: Assignment) -> int | None:
        """How many executions show, each scene explored anew, that the assignment suffices."""
        executions = 0
        for number, scene in enumerate(self._trials.scenes):
            found = self._asked(scene.name, scene.annotated.under(orders), stop_at_first=False)
            cut = found["reasons"] and not (number in self._trials.tolerated and within(found))
            if found["violations"] or cut:
                self._notes.append(
                    f"{scene.name}: not confirmed with {' '.join(orders)}: {found['result']}"
                )
                return None
            executions += sum(found[end] for end in ("complete", "blocked", "cut", "faulty"))
        return executions

    def _needs(self, orders: Assignment, number: int) -> tuple[Need, ...]:
        annotation = self._trials.annotations[number]
        needs = []
        for lower in just_below(annotation.kind, orders[number]):
            if lower not in self._values[number]:
                continue
            tried = (*orders[:number], lower, *orders[number + 1 :])
            scene = self._trials.failing(tried)
            violation = None if scene is None else self._violation(scene, tried)
            if scene is None or violation is None:
                self._notes.append(f"{annotation}: that {lower} is too weak is not confirmed")
                continue
            name = self._trials.scenes[scene].name
            needs.append(Need(below=lower, scenario=name, violation=violation))
        return tuple(needs)

    def _violation(self, scene: int, orders: Assignment) -> Violation | None:
        """What the scene violates under the orders, explored anew for each of its own; most
        telling is what has a critical cycle."""
        each = self._trials.scenes[scene]
        here = (scene, tuple(orders[number] for number in each.used))
        if here not in self._violations:
            program = each.annotated.under(orders)
            self._report(f"{each.name}: why {' '.join(here[1])} is too weak")
            found = explored(
                program,
                self._habits_of(scene),
                self._model,
                self._bounds,
                structure=self._subject,
                scenario=each.name,
                jobs=1,
            )
            self._explorations += 1
            told = sorted(found.violations, key=lambda one: (not one.test, _size(one)))
            self._violations[here] = next(iter(told), None)
        return self._violations[here]

    def _habits_of(self, scene: int) -> Habits:
        if scene not in self._habits:
            program = self._trials.scenes[scene].annotated.program
            trace = program.trace(loops=self._bounds.loops, interleavings=_TRACED, seed=0)
            self._habits[scene] = habits(trace)
        return self._habits[scene]

    def _asked(self, name: str, program: Program, *, stop_at_first: bool = True) -> ExplorationDict:
        self._report(name)
        self._explorations += 1
        return asked(program, self._model, self._bounds, jobs=1, stop_at_first=stop_at_first)


def _size(violation: Violation) -> int:
    return len(violation.witness.events) if violation.witness else 0


def _renumbered(annotated: Annotated, at: dict[int, int]) -> Annotated:
    return Annotated(
        annotated.program,
        {at[number]: sites for number, sites in annotated.sites.items()},
        {at[number]: order for number, order in annotated.orders.items()},
    )


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


def rewritten(relaxed: Relaxed) -> Rewritten:
    """The source files with the weakest orders; nothing where the written ones do not suffice."""
    best = relaxed.best
    written = tuple(each.order for each in relaxed.annotations)
    orders = best.orders if best is not None and relaxed.suffices else written
    return rewrite(relaxed.annotations, orders)


def confirm(
    subject: Subject, relaxed: Relaxed, by_hand: Sequence[ByHand], model: Model, bounds: Bounds
) -> None:
    """That a subject that was read anew has the orders that were found, and is as safe with them.

    Raises WeakspotError otherwise."""
    assert relaxed.best is not None
    left = {each.annotation: each.annotation.order for each in by_hand}
    orders = zip(relaxed.annotations, relaxed.best.orders, strict=True)
    wanted = [(each.path, each.kind, left.get(each, order)) for each, order in orders]
    programs = [each for each in subject.programs if each[0] in relaxed.scenarios]
    annotations, _ = annotate([program for _, program in programs])
    found = [(each.path, each.kind, each.order) for each in annotations]
    if sorted(found) != sorted(each for each in wanted if each[2] != "none"):
        raise WeakspotError("what was written does not have the orders that were meant")
    for name, program in programs:
        if asked(program, model, bounds)["result"] != "Safe":
            raise WeakspotError(f"{name} is not safe with what was written")
