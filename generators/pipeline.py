"""Source to Tests: compile, lower, trace, find the access pattern and its critical cycles."""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.generators.cycles.critical import cycles
from weakspot.generators.cycles.patterns import Habits, habits, pattern
from weakspot.generators.cycles.tests import build_all
from weakspot.generators.emit.merge import merge
from weakspot.generators.litmus import Site, Test
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.frontend import Question
from weakspot.generators.source.program import Program, read_program
from weakspot.system.deadline import NEVER, Deadline, ending

_TRACING = 0.5
"""The part of the time that interleavings are enumerated; cycles are searched in the rest."""

_LEAST = 0.05  # seconds

_INTERLEAVINGS = 4000
"""How many interleavings are traced at most."""

_WITHOUT_TESTS = 400
"""The same for a program without tests, to know its habits."""


class NamedProgram(msgspec.Struct, frozen=True):
    """A structure's scenario as a program to explore, whose events depend on one another as
    `habits` say."""

    program: Program
    habits: Habits
    structure: str
    scenario: str


class Generated(msgspec.Struct, frozen=True):
    """The result for a program: its Tests, and how they were found. `exhaustive`: all interleavings
    were traced, without reaching a limit; `how` describes the runs otherwise. `interrupted`: the
    time limit was reached, so that there may be more tests. `bounded` are the loops whose bound was
    reached, `habits` properties that an execution's events lack."""

    program: Program
    tests: tuple[Test, ...]
    interleavings: int
    exhaustive: bool
    how: str
    bounded: tuple[Site, ...]
    habits: Habits
    interrupted: bool = False

    def named(self, structure: str, scenario: str) -> NamedProgram:
        return NamedProgram(self.program, self.habits, structure, scenario)


def generate(
    source: Path,
    *,
    structure: str,
    scenario: str,
    build: Build = NO_OPTIONS,
    base: Path | None = None,
    loops: int = 4,
    threads: int = 3,
    seconds: float = 0.0,
    reading: Deadline | None = None,
    asked: Question | None = None,
) -> Generated:
    """Compile one program, trace it, and make the Tests for its critical cycles through at most
    `threads` threads, none if that is 0. Tests of the same name are merged. After `seconds`, unless
    they are 0, the tests are those found so far; the source must be read by then, or by the end
    of `reading` if given. `asked` is the compiler's question, if it is known.

    Raises BadInput, Unsupported, MissingTool, ToolFailed or LimitReached.
    """
    end = ending(seconds) if seconds else NEVER
    program = read_program(source, build=build, base=base, end=reading or end, asked=asked)
    tracing = max(end.left * _TRACING, _LEAST) if seconds else 0.0
    interleavings = _INTERLEAVINGS if threads else _WITHOUT_TESTS
    trace = program.trace(loops=loops, interleavings=interleavings, seed=0, seconds=tracing)
    found: tuple[Test, ...] = ()
    if threads:
        accesses = pattern(trace, program.sites, of_kernel=program.kernel, end=end)
        critical = cycles(accesses, threads=threads, end=end)
        found = merge(build_all(critical, structure=structure, scenario=scenario))
    return Generated(
        program=program,
        tests=found,
        interleavings=trace["interleavings"],
        exhaustive=trace["exhaustive"],
        how=trace["how"],
        interrupted=bool(threads) and (end.passed or trace["interrupted"]),
        bounded=tuple(program.sites[site] for site in trace["bound_sites"]),
        habits=habits(trace),
    )
