"""Source to Tests: compile, lower, trace, find the access pattern and its critical cycles."""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.generators.cycles.critical import cycles
from weakspot.generators.cycles.patterns import Habits, habits, pattern
from weakspot.generators.cycles.tests import build as test_of
from weakspot.generators.emit.merge import merge
from weakspot.generators.litmus import Site, Test
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.program import Program, read_program


class Generated(msgspec.Struct, frozen=True):
    """The result for a program: its Tests, and how they were found. `exhaustive`: all interleavings
    were traced, without reaching a limit; `how` describes the runs otherwise. `bounded` are the
    loops whose bound was reached, `habits` properties that an execution's events lack."""

    program: Program
    tests: tuple[Test, ...]
    interleavings: int
    exhaustive: bool
    how: str
    bounded: tuple[Site, ...]
    habits: Habits


def generate(
    source: Path,
    *,
    structure: str,
    scenario: str,
    build: Build = NO_OPTIONS,
    base: Path | None = None,
    loops: int = 4,
    interleavings: int = 4000,
    seed: int = 0,
    threads: int = 3,
) -> Generated:
    """Compile one program, trace it, and make the Tests for its critical cycles through at most
    `threads` threads. Tests of the same name are merged.

    Raises BadInput, Unsupported, MissingTool or ToolFailed.
    """
    program = read_program(source, build=build, base=base)
    trace = program.trace(loops=loops, interleavings=interleavings, seed=seed)
    found = merge(
        test_of(cycle, structure=structure, scenario=scenario)
        for cycle in cycles(pattern(trace, program.sites), threads=threads)
    )
    return Generated(
        program=program,
        tests=found,
        interleavings=trace["interleavings"],
        exhaustive=trace["exhaustive"],
        how=trace["how"],
        bounded=tuple(program.sites[site] for site in trace["bound_sites"]),
        habits=habits(trace),
    )
