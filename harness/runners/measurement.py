"""Measurements of tests: families of tests, which are one program, and the slices of each test.

Tests that differ only in memory orders and fences are a family: with all their control tests they
are one program, since compiling takes longer than running, and they share most of the program.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

from weakspot.errors import Unsupported
from weakspot.generators.cycles.variants import Variant, fenced, weaker
from weakspot.generators.emit.assembly import Assembly, assembly
from weakspot.generators.emit.native import perpetual
from weakspot.generators.emit.threads import statements
from weakspot.generators.litmus import Body, Test
from weakspot.harness.machines import Machine, Session, compilers
from weakspot.harness.runners.programs import Failed, Program, sliced
from weakspot.harness.runners.tuning import Choice, Memory, Tried, settings
from weakspot.harness.values.condition import proposition
from weakspot.harness.values.histogram import Count
from weakspot.system import cache
from weakspot.system.deadline import Deadline

_PATIENCE = 20  # slices without a count that are tolerated: other programs use the processors
_SHORTEST, _LONGEST = 0.01, 0.25  # seconds of a slice
_ONCE = 0.1  # seconds of slices in one run of a program


class Family:
    """Tests that differ only in memory orders and fences, and all their control tests, by text: one
    program. `problem` says why there is none."""

    def __init__(self, tests: Sequence[Test]) -> None:
        self.tests = tests
        self.members: dict[str, Test] = {}
        for test in tests:
            control_tests: tuple[Variant, ...] = ()
            if test.arch == "C":
                read = statements(test)
                control_tests = (fenced(test, read), *weaker(test, read))
            for each in (test, *(control.test for control in control_tests)):
                self.members.setdefault(unnamed(each), each)
        self.program: Program | None = None
        self.problem: Failed | Unsupported | None = None

    def runs(self, test: Test) -> tuple[Program, int]:
        """The program that runs the test, and the number of the test in it. Raises Failed,
        Unsupported."""
        if self.program is None:
            raise self.problem or Failed("its program was not compiled")
        return self.program, list(self.members).index(unnamed(test))


class Measured:
    """A test that is being measured: the sum of the slices of its program. The best of its settings
    is stored under its name in the `memory`."""

    def __init__(
        self,
        test: Test,
        family: Family,
        machine: Machine,
        at: Session,
        memory: Memory,
        end: Deadline,
    ) -> None:
        self.test = test
        self._at, self._memory, self._end = at, memory, end
        self.threads = len(read(test).threads)
        self.name = cache.digest(unnamed(test), compilers.require(machine).stated)[:24]
        self.program, self.variant = family.runs(test)
        streams = test.arch == "C" and perpetual(statements(test)) is not None
        every = settings(self.threads, machine.cores, perpetual=streams)
        self.choice = Choice(every, memory.best.get(self.name))
        self.counts: Counter[tuple[int, ...]] = Counter()
        self.iterations = self.hits = self.independent = 0
        self.seconds = self.processor = 0.0
        self.problem = ""

    def measure(self, seconds: float, enough: float = math.inf, slices: int = 1) -> None:
        """Run slices for `seconds`, at least `slices`, or until there are `enough` independent
        hits. Raises Failed if not even the first ends well, if nothing could be counted, or if
        the counts contradict themselves."""
        begin = time.monotonic()
        length = min(_LONGEST, max(_SHORTEST, seconds / (2 * len(self.choice.tried))))
        while not self.problem and self.independent < enough:
            left = seconds - (time.monotonic() - begin)
            if left <= 0 and self.choice.slices >= (slices if self.iterations else _PATIENCE):
                break
            each = max(_SHORTEST, min(length, left))
            wanted = max(slices - self.choice.slices, math.ceil(left / each), 1)
            self._run(each, min(wanted, max(1, int(_ONCE / each))))
        if not self.iterations:
            raise Failed("no batch ended within its time: the machine is too busy")
        if sum(self.counts[values] for values in self.counts if self._holds(values)) != self.hits:
            raise Failed("its program's hits are not those of the condition")
        if self.hits:
            self._memory.best[self.name] = self.choice.best.setting

    def _run(self, seconds: float, count: int) -> None:
        """Run several slices in one run of the program: starting it takes as long as a slice."""
        chosen: list[Tried] = []
        slices = []
        for _ in range(count):
            tried = self.choice.next()
            tried.slices += 1
            chosen.append(tried)
            setting = {**tried.setting, "variant": self.variant}
            slices.append((setting, seconds, self.choice.slices))
        try:
            ended = sliced(self.program, self._at, slices, self._end)
        except Failed as error:
            if not self.iterations:
                raise
            self.problem = str(error)
            return
        for tried, found in zip(chosen, ended, strict=True):
            self.counts.update(found.counts)
            self.processor += found.processor
            for part in (tried, self):
                part.seconds += found.seconds
                part.iterations += found.iterations
                part.hits += found.hits
                part.independent += found.independent

    def _holds(self, values: Sequence[int]) -> bool:
        holds = proposition(self.test.condition)
        return holds is not None and holds(self.program.state(values))

    @property
    def states(self) -> tuple[Count, ...]:
        state = self.program.state
        return tuple(Count(state(values), count) for values, count in sorted(self.counts.items()))

    def missed(self, variant: Measured) -> float | None:
        """The probability that this test's outcome was missed, were it as likely as the variant's
        in each setting that both were run under; None if the variant's was not observed there. Only
        independent hits count: instances of one episode have one chance."""
        total = 0.0
        for mine in self.choice.tried:
            for its in variant.choice.tried:
                if mine.setting == its.setting and its.iterations:
                    total += mine.iterations * its.independent / its.iterations
        return math.exp(-total) if total else None


def read(test: Test) -> Body | Assembly:
    return statements(test) if test.arch == "C" else assembly(test)


def unnamed(test: Test) -> str:
    """The text of a test without its name and, if the second line has one, its cycle."""
    rest = test.text.partition("\n")[2]
    return rest.partition("\n")[2] if rest.startswith('"') else rest
