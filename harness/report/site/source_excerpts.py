"""Source lines, marked where tests have sites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.generators.litmus import Origin
from weakspot.harness.values.record import Record, StructureInfo

_CONTEXT = 2  # lines before and after a site


class SourceLine(msgspec.Struct, frozen=True):
    """A line of source. `tests` have a site on it; `is_contradicting` is set if one of them was
    observed although a model forbids it."""

    number: int
    text: str
    tests: tuple[str, ...] = ()
    is_contradicting: bool = False


class SourceExcerpt(msgspec.Struct, frozen=True):
    """Lines of a file; the page marks a gap where line numbers are not consecutive."""

    file: str
    lines: tuple[SourceLine, ...]


class OriginThread(msgspec.Struct, frozen=True):
    """A thread of a test's origin: its operation, the call chains of its sites, their source."""

    operation: str
    calls: tuple[str, ...]
    excerpts: tuple[SourceExcerpt, ...]


def _text(record: Record, structure: str, file: str) -> list[str]:
    return next(
        (
            source.text.splitlines()
            for source in record.sources
            if source.structure == structure and source.file == file
        ),
        [],
    )


def origin_threads(record: Record, origin: Origin) -> tuple[OriginThread, ...]:
    """The threads of an origin, with the lines around their sites."""
    found = []
    for operation, sites in zip(origin.operations, origin.sites, strict=True):
        marked: defaultdict[str, set[int]] = defaultdict(set)
        for site in sites:
            marked[site.file].add(site.line)
        excerpts = tuple(
            SourceExcerpt(file, _around(_text(record, origin.structure, file), numbers))
            for file, numbers in marked.items()
        )
        calls = dict.fromkeys(" ← ".join(site.chain) for site in sites if site.chain)
        found.append(OriginThread(operation, tuple(calls), excerpts))
    return tuple(found)


def source_excerpts(
    record: Record, structure: str, sites: Iterable[str]
) -> tuple[SourceExcerpt, ...]:
    """The lines around `file:line` sites, in files whose source is recorded."""
    marked: defaultdict[str, set[int]] = defaultdict(set)
    for site in sites:
        file, _, line = site.rpartition(":")
        if line.isdigit():
            marked[file].add(int(line))
    found = (
        SourceExcerpt(file, _around(_text(record, structure, file), lines))
        for file, lines in marked.items()
    )
    return tuple(excerpt for excerpt in found if excerpt.lines)


def _around(text: Sequence[str], marked: set[int]) -> tuple[SourceLine, ...]:
    shown = sorted(
        {
            number
            for line in marked
            for number in range(line - _CONTEXT, line + _CONTEXT + 1)
            if 0 < number <= len(text)
        }
    )
    return tuple(
        SourceLine(number, text[number - 1], ("here",) if number in marked else ())
        for number in shown
    )


def sources(
    record: Record, structure: StructureInfo, contradicting: frozenset[str]
) -> tuple[SourceExcerpt, ...]:
    """The structure's sources, each line with the tests that have a site on it; `contradicting` are
    tests that were observed although a model forbids them."""
    tests: defaultdict[tuple[str, int], dict[str, None]] = defaultdict(dict)
    for entry in record.tests_of(structure.name):
        for origin in entry.test.origins:
            if origin.structure == structure.name:
                for each in (each for sites in origin.sites for each in sites):
                    tests[each.file, each.line][entry.name] = None
    return tuple(
        SourceExcerpt(
            source.file,
            tuple(
                SourceLine(
                    number,
                    text,
                    tuple(names := tests.get((source.file, number), {})),
                    bool(contradicting & names.keys()),
                )
                for number, text in enumerate(source.text.splitlines(), 1)
            ),
        )
        for source in record.sources
        if source.structure == structure.name
    )
