"""The cost of each memory order of an annotation on a machine, measured on the program's
operations.

Scenarios run as a whole, in two modes: alone, the threads one after the other on one processor, and
together, at the same time. Separate runs first count how often the threads execute each
annotation's operation; an annotation is measured in the scenario that executes it most. There the
program is compiled with each memory order that C11 allows. Orders with the same machine code cost
the same and are reported as the same; the others are timed against the weakest (`comparisons`). The
measured time is the sum over the thread functions of a run, without thread creation; the difference
is divided by the number of executions of the operation.
"""

from __future__ import annotations

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
from weakspot.harness.costs.comparisons import FEWEST, Comparison, next_of
from weakspot.harness.costs.copies import copied
from weakspot.harness.costs.result import Costs, OrderCost, RunCost, SiteCost
from weakspot.harness.edits.annotations import Annotation, annotate
from weakspot.harness.edits.rewrite import marked, rewrite
from weakspot.harness.edits.strength import allowed, fenced
from weakspot.harness.machines import Machine, Session
from weakspot.harness.runners import TOO_LATE, programs, whole_programs
from weakspot.harness.runners.programs import Failed, workshop
from weakspot.harness.runners.tuning import Setting
from weakspot.harness.runners.whole_programs import Times
from weakspot.harness.values.histogram import INTERRUPTED
from weakspot.system import process
from weakspot.system.deadline import NEVER, Deadline, ending
from weakspot.system.processors import cores

_MODES: dict[str, Setting] = {"alone": {"alone": 1}, "together": {"caller": 1}}
_SLICES = {"alone": 0.002, "together": 0.005}  # seconds: about what starting a program takes
_COUNTING = 0.02  # seconds of a slice that counts
_COMPILING = 0.6  # part of the time limit in which all programs must have been compiled

_NO_CODE = re.compile(r"^\s*\.(?:file|ident)\b.*\n", re.M)


class _Variant(msgspec.Struct, frozen=True):
    """A program with one memory order changed; `code` is its assembly without file names."""

    program: programs.Program
    code: str


class _Refusal(msgspec.Struct, frozen=True):
    """Why there is no compiled program; `problem` is the same without the place in a source."""

    why: str
    problem: str = ""


_Keep = Callable[[_Variant | _Refusal], object]
"""Receives a compiled program, or the reason why it could not be compiled."""


class _Job(msgspec.Struct, frozen=True):
    """A program to compile, with its changed files."""

    keep: _Keep
    program: Program
    changed: dict[str, bytes] = {}
    counting: bool = False


class _Entry(Comparison[programs.Program]):
    """The programs of an annotation, one per distinct machine code, the weakest first; without a
    number, a scenario as written."""

    def __init__(
        self, mode: str, scenario: str, number: int | None, entered: Sequence[programs.Program]
    ) -> None:
        super().__init__(entered)
        self.mode, self.scenario, self.number = mode, scenario, number


class Costing:
    """The measurement of a program group. `result` is available at any time, also after Ctrl-C."""

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
        self._counting: dict[str, _Variant | _Refusal] = {}
        self._counts: dict[tuple[str, str], dict[int, Times]] = {}  # by mode and scenario
        self._written: dict[str, _Variant | _Refusal] = {}
        self._variants: dict[tuple[int, str], _Variant | _Refusal] = {}
        self._entries: list[_Entry] = []
        self._failed: dict[tuple[str, str], str] = {}
        self._seconds = 0.0
        self._end = NEVER
        self._interrupted = False

    def run(self, seconds: float, end: Deadline = NEVER) -> None:
        """Count executions, compile all programs, then measure for `seconds`, but at least FEWEST
        rounds of each comparison; until `end` at most, compiling included. Raises Lost,
        MissingTool."""
        self._end = end
        try:
            self._run(seconds, end)
        except KeyboardInterrupt:
            self._interrupted = True
            raise

    def _run(self, seconds: float, end: Deadline) -> None:
        until = ending(_COMPILING * end.left)
        with workshop() as folder, machines.opened(self._machine) as at:
            self._count(at, folder, until)
            self._compile(self._jobs(), folder, until)
            self._entries = [each for mode in _MODES for each in self._entered(mode)]
            begin, turns = time.monotonic(), 0
            while going := [each for each in self._entries if self._goes_on(each)]:
                if end.passed:
                    break
                if self._seconds >= seconds and all(len(each) >= FEWEST for each in going):
                    break
                mode = list(_MODES)[turns % len(_MODES)]
                self._turn(at, next_of([e for e in going if e.mode == mode] or going, turns // 2))
                turns += 1
                self._seconds = time.monotonic() - begin
                self._report(f"{self._name}: round {turns}")

    # --- the programs ---------------------------------------------------------------------------

    def _compile(self, jobs: Sequence[_Job], folder: Path, until: Deadline) -> None:
        """Compile the programs on all cores."""

        def compiled(job: _Job, _: object, __: object) -> None:
            self._report(f"compiling {job.program.source.name}")
            job.keep(self._variant(job, folder, until))

        tasks = [partial(compiled, job) for job in jobs]
        process.in_parallel(tasks, workers=cores(), done=lambda _: None)

    def _jobs(self) -> list[_Job]:
        """The programs to measure: scenarios as written, and with each memory order."""
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
                    keep(_Refusal(changed.by_hand[0].why))
                else:
                    jobs.append(_Job(keep, program, changed.after))
        return jobs

    def _orders(self, each: Annotation) -> tuple[str, ...]:
        """The memory orders that C11 allows there, with fences beside them if requested."""
        orders = allowed(each.scale)
        return fenced(each.scale, orders[-1], full=True) if self._fences else orders

    def _variant(self, job: _Job, folder: Path, until: Deadline) -> _Variant | _Refusal:
        try:
            if until.passed:
                raise Failed(programs.COMPILING)
            with tempfile.TemporaryDirectory(prefix="weakspot-cost-") as scratch:
                program = copied(job.program, job.changed, Path(scratch))
                made = whole_programs.made(
                    program, self._machine, folder, counting=job.counting, end=until
                )
        except Failed as error:
            return _Refusal(_one_line(error.args[0]), _one_line(error.problem))
        except Unsupported as error:
            return _Refusal(_one_line(error.message))
        text = made.assembly.read_text(encoding="utf-8")
        return _Variant(made, _NO_CODE.sub("", text))

    def _groups(self, number: int) -> Iterator[tuple[str, str, _Variant | _Refusal]]:
        """For each memory order of an annotation: the order, an earlier order with the same machine
        code or "", and the program of whichever came first."""
        first: dict[str, tuple[str, _Variant]] = {}
        for order in self._orders(self._annotations[number]):
            variant = self._variants.get((number, order), _Refusal(self._ended or "not compiled"))
            if isinstance(variant, _Refusal):
                yield order, "", variant
                continue
            known, one = first.setdefault(variant.code, (order, variant))
            yield order, known if known != order else "", one

    # --- counting -------------------------------------------------------------------------------

    def _count(self, at: Session, folder: Path, until: Deadline) -> None:
        """Count how often the threads of each scenario execute each operation."""
        changed, marks = marked(self._annotations, whole_programs.counted)
        jobs = [
            _Job(partial(self._counting.__setitem__, name), program, changed, counting=True)
            for name, program in self._programs.items()
        ]
        self._compile(jobs, folder, until)
        for scenario, variant in self._counting.items():
            for mode, setting in _MODES.items():
                if isinstance(variant, _Refusal):
                    self._failed[mode, scenario] = variant.why
                    continue
                counts = {**setting, "counts": len(self._annotations)}
                try:
                    found = _slice(variant.program, at, counts, _COUNTING, 1, self._end)
                except Failed as error:
                    self._failed[mode, scenario] = str(error)
                    continue
                self._counts[mode, scenario] = {
                    number: times for number, times in found.operations.items() if number in marks
                }

    def _times(self, mode: str, number: int, scenario: str = "") -> Times | None:
        return self._counts.get((mode, scenario or self._scenario(number)), {}).get(number)

    def _scenario(self, number: int) -> str:
        """The scenario whose threads execute the annotation's operation most often."""

        def executed(scenario: str) -> list[float]:
            found = [self._times(mode, number, scenario) for mode in _MODES]
            return [times.mean if times else -1.0 for times in found]

        return max(self._within[number], key=executed)

    # --- measuring ------------------------------------------------------------------------------

    def _entered(self, mode: str) -> Iterator[_Entry]:
        for scenario, variant in self._written.items():
            if isinstance(variant, _Variant):
                yield _Entry(mode, scenario, None, [variant.program])
        for number in self._within:
            different = [
                variant.program
                for _, same_as, variant in self._groups(number)
                if not same_as and isinstance(variant, _Variant)
            ]
            times = self._times(mode, number)
            if len(different) > 1 and times is not None and times.most:
                yield _Entry(mode, self._scenario(number), number, different)

    def _goes_on(self, each: _Entry) -> bool:
        return (each.mode, each.scenario) not in self._failed

    def _turn(self, at: Session, entry: _Entry) -> None:
        def measure(program: programs.Program) -> float:
            setting, length = _MODES[entry.mode], _SLICES[entry.mode]
            typical = _slice(program, at, setting, length, len(entry), self._end).typical
            if typical < 0:
                raise Failed(
                    "its threads run longer than can be timed (at most some ten thousand ticks)"
                )
            return 1e9 * typical

        try:
            entry.turn(measure)
        except Failed as error:
            if not self._end.passed:
                self._failed[entry.mode, entry.scenario] = str(error)

    # --- results --------------------------------------------------------------------------------

    def result(self) -> Costs:
        """The measurements so far."""
        return Costs(
            subject=self._name,
            machine=self._machine.name,
            emulated=self._machine.emulated,
            runs=tuple(self._run_cost(*each) for each in self._written.items()),
            sites=tuple(map(self._site, self._within)),
            turns=sum(map(len, self._entries)),
            seconds=round(self._seconds, 2),
        )

    def _entry(self, mode: str, scenario: str, number: int | None) -> _Entry | None:
        """The comparison, if none of its runs failed."""
        key = mode, scenario, number
        found = [each for each in self._entries if (each.mode, each.scenario, each.number) == key]
        return found[0] if found and self._goes_on(found[0]) else None

    def _run_cost(self, scenario: str, variant: _Variant | _Refusal) -> RunCost:
        if isinstance(variant, _Refusal):
            return RunCost(scenario=scenario, why=variant.why)
        alone, together = (
            entry.typical() if (entry := self._entry(mode, scenario, None)) else None
            for mode in _MODES
        )
        counts = [found for mode in _MODES if (found := self._counts.get((mode, scenario)))]
        return RunCost(
            scenario=scenario,
            alone=alone,
            together=together,
            operations=round(sum(each.mean for each in counts[0].values()), 2) if counts else None,
            why=self._why(scenario, alone is None or together is None),
        )

    def _why(self, scenario: str, missing: bool) -> str:
        """Why a scenario or one of its operations was not measured, if a measurement is missing."""
        failed = (self._failed.get((mode, scenario)) for mode in _MODES)
        return next(filter(None, failed), self._ended if missing else "")

    @property
    def _ended(self) -> str:
        """Why the measurement ended before everything was measured; empty if it did not."""
        return INTERRUPTED if self._interrupted else TOO_LATE if self._end.passed else ""

    def _site(self, number: int) -> SiteCost:
        scenario = self._scenario(number)
        alone, together = (self._times(mode, number) for mode in _MODES)
        orders: list[OrderCost] = []
        different: list[Path] = []
        for order, same_as, variant in self._groups(number):
            if isinstance(variant, _Refusal):
                orders.append(OrderCost(order=order, why=variant.why, problem=variant.problem))
                continue
            if not same_as:
                different.append(variant.program.path)
            place = different.index(variant.program.path)
            timings = [
                entry.timing(place, times.mean)
                if place and times and (entry := self._entry(mode, scenario, number))
                else None
                for mode, times in zip(_MODES, (alone, together), strict=True)
            ]
            missing = bool(place) and any(
                timing is None and times is not None and times.most
                for timing, times in zip(timings, (alone, together), strict=True)
            )
            orders.append(
                OrderCost(
                    order=order,
                    same_as=same_as,
                    alone=timings[0],
                    together=timings[1],
                    why=self._ended if missing else "",
                )
            )
        return SiteCost(
            annotation=self._annotations[number],
            scenario=scenario,
            orders=tuple(orders),
            alone=alone,
            together=together,
        )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _slice(
    program: programs.Program,
    at: Session,
    setting: Setting,
    seconds: float,
    seed: int,
    end: Deadline,
) -> whole_programs.Slice:
    """A slice, tried twice, because a thread that was descheduled looks like one that hangs. Raises
    Failed, Lost."""
    try:
        return whole_programs.slice_of(program, at, setting, seconds, seed, end)
    except Failed:
        return whole_programs.slice_of(program, at, setting, seconds, seed, end)
