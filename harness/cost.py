"""What each memory order of a site costs on a machine, on the program's own operations.

For each annotation, and each order that C11 allows there, the program is written with that order,
compiled, and run as a whole. Orders that give the same machine code cost the same, and are said to
be the same; of the others each is measured, in two ways: alone, the threads of a scenario one after
the other on one processor; and together, at once. What counts is the time that the threads of an
instance take, added up, without what sets them up.

Rounds go over all the programs in an order that changes, and differences are those within a round,
to the weakest order of the site: their median, with the interval that holds the true one with at
least 95 %, however the differences are distributed (Conover, Practical Nonparametric Statistics,
3rd edition, 1999, section 3.2). Where it holds zero, there is only noise.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.program import Program
from weakspot.harness import machines, process
from weakspot.harness.annotations import Annotated, Annotation, annotate
from weakspot.harness.machines import Machine, Session
from weakspot.harness.machines.local import cores
from weakspot.harness.rewrite import rewrite
from weakspot.harness.runners import programs, whole
from weakspot.harness.runners.programs import Failed, workshop
from weakspot.harness.runners.tuning import Setting
from weakspot.harness.strength import allowed, at_most

_ALONE: Setting = {"alone": 1}
_TOGETHER: Setting = {"caller": 1}
_SLICES = {"alone": 0.01, "together": 0.03}  # seconds
_FEWEST = 6  # rounds; of fewer there is no such interval

_NO_CODE = re.compile(r"^\s*\.(?:file|ident)\b.*\n", re.M)


class Timing(msgspec.Struct, frozen=True):
    """Nanoseconds a run, more than with the weakest order of the site, and the interval that holds
    the true figure with 95 %."""

    ns: float
    low: float
    high: float

    @property
    def is_noise(self) -> bool:
        return self.low <= 0 <= self.high


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
    """What the orders of an annotation cost in runs of a scenario, the weakest first."""

    annotation: Annotation
    scenario: str
    orders: tuple[OrderCost, ...]


class RunCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of a scenario takes as it is written, in nanoseconds; None where it was not
    measured, `why`."""

    scenario: str
    alone: float | None = None
    together: float | None = None
    why: str = ""


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of a subject on a machine, in so many rounds and seconds."""

    subject: str
    machine: str
    emulated: bool
    runs: tuple[RunCost, ...]
    sites: tuple[SiteCost, ...]
    rounds: int
    seconds: float


class _Variant(msgspec.Struct, frozen=True):
    """A program with one order changed; `code` is its assembly, without what is no code."""

    program: programs.Program
    code: str


_Keep = Callable[[_Variant | str], object]
"""What to do with a program that was made, or with why it was not."""


class Costing:
    """Measures one subject; `result` may be asked for at any time, also after Ctrl-C."""

    def __init__(
        self,
        name: str,
        subject: Sequence[tuple[str, Program]],
        machine: Machine,
        *,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._name, self._machine, self._report = name, machine, report
        self._programs = dict(subject)
        self._annotations, annotated = annotate([program for _, program in subject])
        self._scenario = {
            number: _best(number, subject, annotated) for number in range(len(self._annotations))
        }
        self._written: dict[str, _Variant | str] = {}
        self._variants: dict[tuple[int, str], _Variant | str] = {}
        self._times: dict[str, dict[Path, list[float]]] = {way: {} for way in _SLICES}
        self._failed: dict[tuple[str, str], str] = {}  # by way and scenario
        self._rounds, self._seconds = 0, 0.0

    def run(self, seconds: float) -> None:
        """Compile all the programs, then measure for so long, and for _FEWEST rounds at least.
        Raises Lost, MissingTool."""
        with workshop() as folder, machines.opened(self._machine) as at:
            self._compile(folder)
            begin = time.monotonic()
            while self._rounds < _FEWEST or time.monotonic() - begin < seconds:
                self._round(at)
                self._rounds += 1
                self._seconds = time.monotonic() - begin
                self._report(f"{self._name}: round {self._rounds}")

    # --- the programs ---------------------------------------------------------------------------

    def _compile(self, folder: Path) -> None:
        """All programs, on all cores."""
        jobs: list[tuple[_Keep, Program, dict[str, bytes]]] = []
        for scenario in dict.fromkeys(self._scenario.values()):
            keep: _Keep = partial(self._written.__setitem__, scenario)
            jobs.append((keep, self._programs[scenario], {}))
        for number, annotation in enumerate(self._annotations):
            program = self._programs[self._scenario[number]]
            for order in allowed(annotation.kind):
                keep = partial(self._variants.__setitem__, (number, order))
                changed = rewrite([annotation], (order,), through_macros=True)
                if changed.by_hand:
                    keep(changed.by_hand[0].why)
                else:
                    jobs.append((keep, program, changed.after))

        def compiled(job: tuple[_Keep, Program, dict[str, bytes]], _: object, __: object) -> None:
            keep, program, changed = job
            self._report(f"compiling {program.source.name}")
            keep(self._variant(program, changed, folder))

        tasks = [partial(compiled, job) for job in jobs]
        process.in_parallel(tasks, workers=cores(), done=lambda _: None)

    def _variant(self, program: Program, changed: dict[str, bytes], folder: Path) -> _Variant | str:
        try:
            with tempfile.TemporaryDirectory(prefix="weakspot-cost-") as scratch:
                made = whole.made(_moved(program, changed, Path(scratch)), self._machine, folder)
        except (Failed, Unsupported) as error:
            return " ".join(str(error.args[0]).split())
        text = made.assembly.read_text(encoding="utf-8")
        return _Variant(made, _NO_CODE.sub("", text))

    def _groups(self, number: int) -> Iterator[tuple[str, str, _Variant | str]]:
        """The orders of an annotation, the order before it that it is the same as, and its
        program, which is that order's."""
        first: dict[str, tuple[str, _Variant]] = {}
        for order in allowed(self._annotations[number].kind):
            variant = self._variants.get((number, order), "not compiled")
            if isinstance(variant, str):
                yield order, "", variant
                continue
            known, one = first.setdefault(variant.code, (order, variant))
            yield order, known if known != order else "", one

    # --- measuring ------------------------------------------------------------------------------

    def _round(self, at: Session) -> None:
        """One slice of each program in each way."""
        wanted: dict[Path, tuple[str, programs.Program]] = {}
        for scenario, variant in self._written.items():
            if isinstance(variant, _Variant):
                wanted[variant.program.path] = scenario, variant.program
        for number, scenario in self._scenario.items():
            found = [one.program for *_, one in self._groups(number) if isinstance(one, _Variant)]
            if len({each.path for each in found}) > 1:  # else there is no difference to measure
                wanted |= {each.path: (scenario, each) for each in found}
        chosen = list(wanted.values())
        random.Random(self._rounds).shuffle(chosen)
        for scenario, program in chosen:
            for way, setting in (("alone", _ALONE), ("together", _TOGETHER)):
                times = self._times[way].setdefault(program.path, [])
                if (way, scenario) in self._failed:
                    continue
                try:
                    slice_ = whole.slice_of(program, at, setting, _SLICES[way], self._rounds)
                except Failed as error:
                    self._failed[way, scenario] = str(error)
                    continue
                times.append(1e9 * slice_.typical)

    def _difference(self, way: str, scenario: str, one: Path, other: Path) -> Timing | None:
        if (way, scenario) in self._failed:
            return None
        pairs = zip(self._times[way].get(one, ()), self._times[way].get(other, ()), strict=False)
        found = [mine - its for mine, its in pairs]
        return timing(found)

    # --- what is known --------------------------------------------------------------------------

    def result(self) -> Costs:
        """What is known so far."""
        return Costs(
            subject=self._name,
            machine=self._machine.name,
            emulated=self._machine.emulated,
            runs=tuple(self._run_cost(*each) for each in self._written.items()),
            sites=tuple(map(self._site, self._scenario)),
            rounds=self._rounds,
            seconds=round(self._seconds, 2),
        )

    def _run_cost(self, scenario: str, variant: _Variant | str) -> RunCost:
        if isinstance(variant, str):
            return RunCost(scenario=scenario, why=variant)
        found = {
            way: round(statistics.median(times), 1)
            for way in _SLICES
            if (times := self._times[way].get(variant.program.path))
        }
        why = self._failed.get(("alone", scenario)) or self._failed.get(("together", scenario), "")
        return RunCost(
            scenario=scenario, alone=found.get("alone"), together=found.get("together"), why=why
        )

    def _site(self, number: int) -> SiteCost:
        scenario = self._scenario[number]
        orders: list[OrderCost] = []
        weakest: Path | None = None
        for order, same_as, variant in self._groups(number):
            if isinstance(variant, str):
                orders.append(OrderCost(order=order, why=variant))
                continue
            path = variant.program.path
            if weakest is None:
                weakest = path
            alone, together = (
                self._difference(way, scenario, path, weakest) if path != weakest else None
                for way in _SLICES
            )
            orders.append(OrderCost(order=order, same_as=same_as, alone=alone, together=together))
        return SiteCost(
            annotation=self._annotations[number], scenario=scenario, orders=tuple(orders)
        )


def timing(differences: Sequence[float]) -> Timing | None:
    """The median with its interval; None where there are too few."""
    found, count = sorted(differences), len(differences)
    cut, tail = -1, 1 / 2**count  # of this chance, that the median is outside, on one side
    chance = tail
    while chance <= 0.025:
        cut += 1
        tail *= (count - cut) / (cut + 1)
        chance += tail
    if cut < 0:
        return None
    return Timing(
        *(round(each, 2) for each in (statistics.median(found), found[cut], found[-1 - cut]))
    )


def _best(
    number: int, subject: Sequence[tuple[str, Program]], annotated: Sequence[Annotated]
) -> str:
    """The first scenario in which a thread does the annotation's operation, not main before it
    starts any; else the first that has it."""
    has = [
        (name, [program.sites[site] for site in each.sites[number]])
        for (name, program), each in zip(subject, annotated, strict=True)
        if number in each.sites
    ]
    for name, sites in has:
        chains = [(site.function, *site.chain) for site in sites]  # function@file:line:column
        if any(not chain[-1].startswith("main") for chain in chains):
            return name
    return has[0][0]


def prices(site: SiteCost) -> dict[str, float]:
    """Nanoseconds by order, to rank by: what is within the noise counts nothing, and no order is
    cheaper than a weaker one. Empty where an order is not known."""
    found: dict[str, float] = {}
    weakest = site.orders[0].order
    for each in site.orders:
        if each.why:
            return {}
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
