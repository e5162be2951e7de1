"""What each memory order of a site costs on a machine, on the program's own operations.

Scenarios run as a whole, in two ways: alone, the threads one after the other on one processor; and
together, at once. How often their threads execute each annotation's operation is counted first, in
runs of their own, and an annotation is measured in the scenario that executes it most. There the
program is written with each order that C11 allows, and compiled. Orders that give the same machine
code cost the same, and are said to be the same; the others are measured against the weakest
(`contests`). What counts is the time that the functions of a run's threads take, added up, without
what sets them up; of its difference, an operation's part.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.source.program import Program
from weakspot.harness import machines
from weakspot.harness.machines import Machine, Session
from weakspot.harness.machines.local import cores
from weakspot.harness.orders.contests import FEWEST, Contest, Timing, next_of
from weakspot.harness.orders.rewrite import marked, rewrite
from weakspot.harness.runners import programs, whole
from weakspot.harness.runners.programs import Failed, workshop
from weakspot.harness.runners.tuning import Setting
from weakspot.harness.runners.whole import Times
from weakspot.harness.values.annotations import Annotation, annotate
from weakspot.harness.values.strength import allowed, at_most, fenced
from weakspot.system import process

_WAYS: dict[str, Setting] = {"alone": {"alone": 1}, "together": {"caller": 1}}
_SLICES = {"alone": 0.002, "together": 0.005}  # seconds: about what starting a program takes
_COUNTING = 0.02  # seconds of a slice that counts

_NO_CODE = re.compile(r"^\s*\.(?:file|ident)\b.*\n", re.M)


class OrderCost(msgspec.Struct, frozen=True, kw_only=True):
    """An order at a site. `same_as` is an order before it that gives the same machine code, `why`
    why there is no program with it. A Timing is None where it could not be measured, and for the
    weakest order."""

    order: str
    same_as: str = ""
    alone: Timing | None = None
    together: Timing | None = None
    why: str = ""


class SiteCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the orders of an annotation cost in a scenario, the weakest first. How often a run
    executes its operation is None where it could not be counted."""

    annotation: Annotation
    scenario: str
    orders: tuple[OrderCost, ...]
    alone: Times | None = None
    together: Times | None = None

    @property
    def is_executed(self) -> bool:
        """Whether a thread does its operation at all, as far as is known."""
        return any(times.most for times in (self.alone, self.together) if times)


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the threads of a run of a scenario take as it is written, in nanoseconds, and how many
    operations with an order they execute; None where it was not measured, `why`."""

    scenario: str
    alone: float | None = None
    together: float | None = None
    operations: float | None = None
    why: str = ""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of a subject on a machine, in so many turns and seconds."""

    subject: str
    machine: str
    emulated: bool
    runs: tuple[RunCost, ...]
    sites: tuple[SiteCost, ...]
    turns: int
    seconds: float


class _Variant(msgspec.Struct, frozen=True):
    """A program with one order changed; `code` is its assembly, without what is no code."""

    program: programs.Program
    code: str


_Keep = Callable[[_Variant | str], object]
"""What to do with a program that was made, or with why it was not."""


class _Job(msgspec.Struct, frozen=True):
    """A program to make, with the files that are changed in it."""

    keep: _Keep
    program: Program
    changed: dict[str, bytes] = {}
    counting: bool = False


class _Entry(Contest[programs.Program]):
    """The programs of an annotation, one for each machine code, the weakest first; or, without a
    number, a scenario as it is written."""

    def __init__(
        self, way: str, scenario: str, number: int | None, entered: Sequence[programs.Program]
    ) -> None:
        super().__init__(entered)
        self.way, self.scenario, self.number = way, scenario, number


class Costing:
    """Measures one subject; `result` may be asked for at any time, also after Ctrl-C."""

    def __init__(
        self,
        name: str,
        subject: Sequence[tuple[str, Program]],
        machine: Machine,
        *,
        fences: bool = False,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._name, self._machine, self._report = name, machine, report
        self._fences = fences
        self._programs = dict(subject)
        self._annotations, annotated = annotate([program for _, program in subject])
        self._within = {
            number: [
                name
                for name, each in zip(self._programs, annotated, strict=True)
                if number in each.sites
            ]
            for number in range(len(self._annotations))
        }
        self._counting: dict[str, _Variant | str] = {}
        self._counts: dict[tuple[str, str], dict[int, Times]] = {}  # by way and scenario
        self._written: dict[str, _Variant | str] = {}
        self._variants: dict[tuple[int, str], _Variant | str] = {}
        self._entries: list[_Entry] = []
        self._failed: dict[tuple[str, str], str] = {}
        self._seconds = 0.0

    def run(self, seconds: float) -> None:
        """Count, compile all the programs, then measure for so long, and for FEWEST turns of each
        at least. Raises Lost, MissingTool."""
        with workshop() as folder, machines.opened(self._machine) as at:
            self._count(at, folder)
            self._compile(self._jobs(), folder)
            self._entries = [each for way in _WAYS for each in self._entered(way)]
            begin, turns = time.monotonic(), 0
            while going := [each for each in self._entries if self._goes_on(each)]:
                if self._seconds >= seconds and all(len(each) >= FEWEST for each in going):
                    break
                way = list(_WAYS)[turns % len(_WAYS)]
                self._turn(at, next_of([e for e in going if e.way == way] or going, turns // 2))
                turns += 1
                self._seconds = time.monotonic() - begin
                self._report(f"{self._name}: turn {turns}")

    # --- the programs ---------------------------------------------------------------------------

    def _compile(self, jobs: Sequence[_Job], folder: Path) -> None:
        """All of them, on all cores."""

        def compiled(job: _Job, _: object, __: object) -> None:
            self._report(f"compiling {job.program.source.name}")
            job.keep(self._variant(job, folder))

        tasks = [partial(compiled, job) for job in jobs]
        process.in_parallel(tasks, workers=cores(), done=lambda _: None)

    def _jobs(self) -> list[_Job]:
        """The programs to measure: scenarios as they are written, and with each order."""
        jobs = [
            _Job(partial(self._written.__setitem__, scenario), self._programs[scenario])
            for scenario in dict.fromkeys(map(self._scenario, self._within))
        ]
        for number, annotation in enumerate(self._annotations):
            program = self._programs[self._scenario(number)]
            for order in self._orders(annotation):
                keep: _Keep = partial(self._variants.__setitem__, (number, order))
                changed = rewrite([annotation], (order,), through_macros=True)
                if changed.by_hand:
                    keep(changed.by_hand[0].why)
                else:
                    jobs.append(_Job(keep, program, changed.after))
        return jobs

    def _orders(self, each: Annotation) -> tuple[str, ...]:
        """The orders that C11 allows there, and those with fences beside them if asked for."""
        orders = allowed(each.kind)
        return fenced(each.kind, orders[-1], full=True) if self._fences else orders

    def _variant(self, job: _Job, folder: Path) -> _Variant | str:
        try:
            with tempfile.TemporaryDirectory(prefix="weakspot-cost-") as scratch:
                program = _moved(job.program, job.changed, Path(scratch))
                made = whole.made(program, self._machine, folder, counting=job.counting)
        except (Failed, Unsupported) as error:
            return " ".join(str(error.args[0]).split())
        text = made.assembly.read_text(encoding="utf-8")
        return _Variant(made, _NO_CODE.sub("", text))

    def _groups(self, number: int) -> Iterator[tuple[str, str, _Variant | str]]:
        """The orders of an annotation, the order before it that it is the same as, and its
        program, which is that order's."""
        first: dict[str, tuple[str, _Variant]] = {}
        for order in self._orders(self._annotations[number]):
            variant = self._variants.get((number, order), "not compiled")
            if isinstance(variant, str):
                yield order, "", variant
                continue
            known, one = first.setdefault(variant.code, (order, variant))
            yield order, known if known != order else "", one

    # --- counting -------------------------------------------------------------------------------

    def _count(self, at: Session, folder: Path) -> None:
        """How often the threads of each scenario execute what."""
        changed, marks = marked(self._annotations, whole.counted)
        jobs = [
            _Job(partial(self._counting.__setitem__, name), program, changed, counting=True)
            for name, program in self._programs.items()
        ]
        self._compile(jobs, folder)
        for scenario, variant in self._counting.items():
            for way, setting in _WAYS.items():
                if isinstance(variant, str):
                    self._failed[way, scenario] = variant
                    continue
                counts = {**setting, "counts": len(self._annotations)}
                try:
                    found = _slice(variant.program, at, counts, _COUNTING, 1)
                except Failed as error:
                    self._failed[way, scenario] = str(error)
                    continue
                self._counts[way, scenario] = {
                    number: times for number, times in found.operations.items() if number in marks
                }

    def _times(self, way: str, number: int, scenario: str = "") -> Times | None:
        return self._counts.get((way, scenario or self._scenario(number)), {}).get(number)

    def _scenario(self, number: int) -> str:
        """The one whose threads do the annotation's operation most often."""

        def executed(scenario: str) -> list[float]:
            found = [self._times(way, number, scenario) for way in _WAYS]
            return [times.mean if times else -1.0 for times in found]

        return max(self._within[number], key=executed)

    # --- measuring ------------------------------------------------------------------------------

    def _entered(self, way: str) -> Iterator[_Entry]:
        for scenario, variant in self._written.items():
            if isinstance(variant, _Variant):
                yield _Entry(way, scenario, None, [variant.program])
        for number in self._within:
            different = [
                variant.program
                for _, same_as, variant in self._groups(number)
                if not same_as and isinstance(variant, _Variant)
            ]
            times = self._times(way, number)
            if len(different) > 1 and times is not None and times.most:
                yield _Entry(way, self._scenario(number), number, different)

    def _goes_on(self, each: _Entry) -> bool:
        return (each.way, each.scenario) not in self._failed

    def _turn(self, at: Session, entry: _Entry) -> None:
        def measure(program: programs.Program) -> float:
            setting, length = _WAYS[entry.way], _SLICES[entry.way]
            typical = _slice(program, at, setting, length, len(entry)).typical
            if typical < 0:
                raise Failed(
                    "its threads take too long to be timed: some ten thousand ticks at most"
                )
            return 1e9 * typical

        try:
            entry.turn(measure)
        except Failed as error:
            self._failed[entry.way, entry.scenario] = str(error)

    # --- what is known --------------------------------------------------------------------------

    def result(self) -> Costs:
        """What is known so far."""
        return Costs(
            subject=self._name,
            machine=self._machine.name,
            emulated=self._machine.emulated,
            runs=tuple(self._run_cost(*each) for each in self._written.items()),
            sites=tuple(map(self._site, self._within)),
            turns=sum(map(len, self._entries)),
            seconds=round(self._seconds, 2),
        )

    def _entry(self, way: str, scenario: str, number: int | None) -> _Entry | None:
        """The one that was measured to its end."""
        key = way, scenario, number
        found = [each for each in self._entries if (each.way, each.scenario, each.number) == key]
        return found[0] if found and self._goes_on(found[0]) else None

    def _run_cost(self, scenario: str, variant: _Variant | str) -> RunCost:
        if isinstance(variant, str):
            return RunCost(scenario=scenario, why=variant)
        alone, together = (
            entry.typical() if (entry := self._entry(way, scenario, None)) else None
            for way in _WAYS
        )
        counts = [found for way in _WAYS if (found := self._counts.get((way, scenario)))]
        return RunCost(
            scenario=scenario,
            alone=alone,
            together=together,
            operations=round(sum(each.mean for each in counts[0].values()), 2) if counts else None,
            why=next(filter(None, (self._failed.get((way, scenario)) for way in _WAYS)), ""),
        )

    def _site(self, number: int) -> SiteCost:
        scenario = self._scenario(number)
        alone, together = (self._times(way, number) for way in _WAYS)
        orders: list[OrderCost] = []
        different: list[Path] = []
        for order, same_as, variant in self._groups(number):
            if isinstance(variant, str):
                orders.append(OrderCost(order=order, why=variant))
                continue
            if not same_as:
                different.append(variant.program.path)
            place = different.index(variant.program.path)
            timings = [
                entry.timing(place, times.mean)
                if place and times and (entry := self._entry(way, scenario, number))
                else None
                for way, times in zip(_WAYS, (alone, together), strict=True)
            ]
            orders.append(
                OrderCost(order=order, same_as=same_as, alone=timings[0], together=timings[1])
            )
        return SiteCost(
            annotation=self._annotations[number],
            scenario=scenario,
            orders=tuple(orders),
            alone=alone,
            together=together,
        )


def _slice(
    program: programs.Program, at: Session, setting: Setting, seconds: float, seed: int
) -> whole.Slice:
    """Of two tries: who is without a processor for a while looks as one that waits. Raises Failed,
    Lost."""
    try:
        return whole.slice_of(program, at, setting, seconds, seed)
    except Failed:
        return whole.slice_of(program, at, setting, seconds, seed)


def prices(site: SiteCost) -> dict[str, float]:
    """Nanoseconds by order, to rank by: what is within the noise counts nothing, and no order is
    cheaper than a weaker one. Without those that there is no program with; empty where the weakest
    is one of these, or another was not measured."""
    found: dict[str, float] = {}
    weakest = site.orders[0].order
    for each in site.orders if not site.orders[0].why else ():
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


def _moved(program: Program, changed: dict[str, bytes], scratch: Path) -> Program:
    """The program with changed files, copied with all others that it is made of. Files and include
    folders keep their places to one another."""
    if not changed:
        return program
    files = {Path(path).resolve() for path in (program.source, *program.files.values())}
    folders = [folder.resolve() for folder in program.include]
    root = Path(os.path.commonpath([*(file.parent for file in files), *folders]))
    for file in files:
        copy = scratch / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(changed.get(str(file)) or file.read_bytes())
    for folder in folders:
        (scratch / folder.relative_to(root)).mkdir(parents=True, exist_ok=True)
    return msgspec.structs.replace(
        program,
        source=scratch / program.source.resolve().relative_to(root),
        include=tuple(scratch / folder.relative_to(root) for folder in folders),
    )
