"""Source to Tests, the whole way: compile, lower, trace, access pattern, critical cycles."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from weakspot import _engine
from weakspot.errors import BadInput, Unsupported, excerpt
from weakspot.generators.build import build, merge
from weakspot.generators.cycles import cycles
from weakspot.generators.litmus import Site, Test
from weakspot.generators.patterns import pattern, site_of
from weakspot.generators.source import compile_source


class Failure(msgspec.Struct, frozen=True):
    """A sequentially consistent interleaving that ended badly. `kind`: assertion, deadlock,
    memory."""

    kind: str
    message: str
    site: Site | None


class Generated(msgspec.Struct, frozen=True):
    """What a program gave: its Tests, and what its interleavings showed on the way.

    `interleavings` were executed, all there are when `exhaustive`; `how` says what was run when
    they are not all. `bounded` are the loops that a bound cut.
    """

    tests: tuple[Test, ...]
    failures: tuple[Failure, ...]
    interleavings: int
    exhaustive: bool
    how: str
    bounded: tuple[Site, ...]
    sites: tuple[Site, ...]
    compiler: str
    seconds: float


def generate(
    source: Path,
    *,
    structure: str,
    scenario: str,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    loops: int = 4,
    interleavings: int = 4000,
    seed: int = 0,
    threads: int = 3,
) -> Generated:
    """Compile one program, trace it, and make the Tests of its critical cycles through at most
    `threads` threads. Duplicates by name are merged.

    Raises BadInput, Unsupported, MissingTool or ToolFailed.
    """
    start = time.perf_counter()
    ir = compile_source(source, defines=defines, include=include)
    try:
        program = _engine.Program(ir.text)
        trace = program.trace(loops=loops, interleavings=interleavings, seed=seed)
    except _engine.EngineError as error:
        raise _place(error, source, ir.files) from error
    sites = tuple(site_of(site) for site in program.sites)
    found = merge(
        build(cycle, structure=structure, scenario=scenario)
        for cycle in cycles(pattern(trace, program.sites), threads=threads)
    )
    failures = {
        (run["outcome"], run["message"], run["site"]): None
        for run in trace["runs"]
        if run["outcome"] not in ("complete", "bound")
    }
    return Generated(
        tests=found,
        failures=tuple(
            Failure(kind, message, None if site is None else sites[site])
            for kind, message, site in failures
        ),
        interleavings=trace["interleavings"],
        exhaustive=trace["exhaustive"],
        how=trace["how"],
        bounded=tuple(sites[site] for site in trace["bound_sites"]),
        sites=sites,
        compiler=ir.compiler,
        seconds=time.perf_counter() - start,
    )


def _place(
    error: _engine.EngineError, source: Path, files: dict[str, Path]
) -> BadInput | Unsupported:
    """An engine error as one that shows the source line."""
    kind, message, place = (*map(str, error.args), "", "", "")[:3]
    shown = None
    name, line, column = (*place.split(":"), "", "")[:3]
    path = files.get(name, source.parent / name)
    if name and line.isdigit() and column.isdigit() and path.is_file():
        shown = excerpt(path, int(line), int(column))
        place = f"{path}:{line}:{column}"
    if kind == "unsupported":
        return Unsupported(
            message,
            place=place or str(source),
            excerpt=shown,
            advice="guard it with #ifndef WEAKSPOT, which is defined while weakspot reads a "
            "source, or write it in another way",
        )
    return BadInput(message, place=place or str(source), excerpt=shown)
