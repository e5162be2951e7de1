"""Source lines with the tests that have sites on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.generators.litmus import Origin
from weakspot.harness.values.record import Record, StructureInfo

_CONTEXT = 2  # lines shown around a site


class Line(msgspec.Struct, frozen=True):
    """A line of source. `tests` are those with a site on it; `seen` when one of them was seen
    although a model forbids it."""

    number: int
    text: str
    tests: tuple[str, ...] = ()
    seen: bool = False


class Excerpt(msgspec.Struct, frozen=True):
    """Some lines of a file; a gap stands before a line whose number does not follow."""

    file: str
    lines: tuple[Line, ...]


class Thread(msgspec.Struct, frozen=True):
    """One thread of an origin: its operation, the calls that lead to its sites, their source."""

    operation: str
    calls: tuple[str, ...]
    excerpts: tuple[Excerpt, ...]


def _text(record: Record, structure: str, file: str) -> list[str]:
    return next(
        (
            source.text.splitlines()
            for source in record.sources
            if source.structure == structure and source.file == file
        ),
        [],
    )


def threads(record: Record, origin: Origin) -> tuple[Thread, ...]:
    """The operations of an origin, with the lines around their sites."""
    found = []
    for operation, sites in zip(origin.operations, origin.sites, strict=True):
        marked: defaultdict[str, set[int]] = defaultdict(set)
        for site in sites:
            marked[site.file].add(site.line)
        excerpts = tuple(
            Excerpt(file, _around(_text(record, origin.structure, file), numbers))
            for file, numbers in marked.items()
        )
        calls = dict.fromkeys(" ← ".join(site.chain) for site in sites if site.chain)
        found.append(Thread(operation, tuple(calls), excerpts))
    return tuple(found)


def excerpts(record: Record, structure: str, sites: Iterable[str]) -> tuple[Excerpt, ...]:
    """The lines around `file:line` places, of files whose source is known."""
    marked: defaultdict[str, set[int]] = defaultdict(set)
    for site in sites:
        file, _, line = site.rpartition(":")
        if line.isdigit():
            marked[file].add(int(line))
    found = (
        Excerpt(file, _around(_text(record, structure, file), lines))
        for file, lines in marked.items()
    )
    return tuple(excerpt for excerpt in found if excerpt.lines)


def _around(text: Sequence[str], marked: set[int]) -> tuple[Line, ...]:
    shown = sorted(
        {
            number
            for line in marked
            for number in range(line - _CONTEXT, line + _CONTEXT + 1)
            if 0 < number <= len(text)
        }
    )
    return tuple(
        Line(number, text[number - 1], ("here",) if number in marked else ()) for number in shown
    )


def sources(record: Record, structure: StructureInfo, grave: frozenset[str]) -> tuple[Excerpt, ...]:
    """The structure's sources, each line with the tests that have a site on it; `grave` are the
    tests that were seen although a model forbids them."""
    tests: defaultdict[tuple[str, int], dict[str, None]] = defaultdict(dict)
    for entry in record.tests_of(structure.name):
        for origin in entry.test.origins:
            if origin.structure == structure.name:
                for each in (each for sites in origin.sites for each in sites):
                    tests[each.file, each.line][entry.name] = None
    return tuple(
        Excerpt(
            source.file,
            tuple(
                Line(
                    number,
                    text,
                    tuple(names := tests.get((source.file, number), {})),
                    bool(grave & names.keys()),
                )
                for number, text in enumerate(source.text.splitlines(), 1)
            ),
        )
        for source in record.sources
        if source.structure == structure.name
    )
