"""Excerpts of sources: the lines around sites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.generators.litmus import Origin
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.values.record import Record

_CONTEXT = 2  # lines before and after a site


class SourceLine(msgspec.Struct, frozen=True):
    """A line of source, and whether a site is on it."""

    number: int
    text: str
    is_site: bool = False


class SourceExcerpt(msgspec.Struct, frozen=True):
    """Lines of a file; the page marks a gap where line numbers are not consecutive. `page` and
    `anchor` lead to the whole file."""

    file: str
    page: str
    anchor: str
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


def origin_threads(site_data: SiteData, origin: Origin) -> tuple[OriginThread, ...]:
    """The threads of an origin, with the lines around their sites."""
    found = []
    for operation, sites in zip(origin.operations, origin.sites, strict=True):
        marked: defaultdict[str, set[int]] = defaultdict(set)
        for site in sites:
            marked[site.file].add(site.line)
        excerpts = tuple(
            _excerpt(site_data, origin.structure, file, lines) for file, lines in marked.items()
        )
        calls = dict.fromkeys(" ← ".join(site.chain) for site in sites if site.chain)
        found.append(OriginThread(operation, tuple(calls), excerpts))
    return tuple(found)


def _excerpt(site_data: SiteData, structure: str, file: str, lines: set[int]) -> SourceExcerpt:
    page = site_data.structures.get(structure, "")
    return SourceExcerpt(
        file,
        page,
        site_data.anchors.get((structure, file), "") if page else "",
        _around(_text(site_data.record, structure, file), lines),
    )


def source_excerpts(
    site_data: SiteData, structure: str, sites: Iterable[str]
) -> tuple[SourceExcerpt, ...]:
    """The lines around `file:line` sites, in files whose source is recorded."""
    marked: defaultdict[str, set[int]] = defaultdict(set)
    for site in sites:
        file, _, line = site.rpartition(":")
        if line.isdigit():
            marked[file].add(int(line))
    found = (_excerpt(site_data, structure, file, lines) for file, lines in marked.items())
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
    return tuple(SourceLine(number, text[number - 1], number in marked) for number in shown)
