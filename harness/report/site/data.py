"""What every page of the site needs: the names of pages, and findings by subject."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from weakspot.harness.judge.observations import observed_outcomes
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import Record


class SiteData(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign, with the file name of each page."""

    record: Record
    pages: dict[str, str]  # by test
    programs: dict[str, str]  # by explored program
    structures: dict[str, str]  # by structure; also those of their sources
    anchors: dict[tuple[str, str], str]  # of a structure's source files, on the page of its sources
    contradicting: frozenset[str]  # tests observed although a model that applies forbids them
    contradicted: frozenset[tuple[str, str]]  # these tests, with the machines that showed them
    claimed: frozenset[str]  # tests that a claim is about
    findings: dict[str, tuple[Finding, ...]]  # by subject

    def source_link(self, structure: str, site: str) -> str:
        """The place of `file:line` or `file:line:column` on the page of a structure's sources, as
        `queue.html#f0-16`; empty if that file is not recorded."""
        match = re.fullmatch(r"(.+?):(\d+)(?::\d+)?", site)
        anchor = self.anchors.get((structure, match[1])) if match else None
        if match is None or anchor is None:
            return ""
        return f"{quote(self.structures[structure])}#{anchor}{match[2]}"


def site_data(record: Record) -> SiteData:
    """The data of a campaign's site."""
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in record.findings:
        found[finding.subject].append(finding)
    anchors: dict[tuple[str, str], str] = {}
    files: Counter[str] = Counter()
    for source in record.sources:
        anchors[source.structure, source.file] = f"f{files[source.structure]}-"
        files[source.structure] += 1
    contradicted = frozenset(
        (each.histogram.test, each.histogram.machine)
        for each in observed_outcomes(record)
        if each.contradicted
    )
    return SiteData(
        record=record,
        pages={
            entry.name: entry.file.removesuffix(".litmus") + ".html" for entry in record.entries
        },
        programs=dict(_pages(record.explorations_of)),
        structures=dict(_pages(structure.name for structure in record.structures)),
        anchors=anchors,
        contradicting=frozenset(test for test, _ in contradicted),
        contradicted=contradicted,
        claimed=frozenset(claim.test for _, claim in record.claims),
        findings={subject: tuple(each) for subject, each in found.items()},
    )


def _pages(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """A file name for each, without characters that a file system or an address rejects."""
    taken: set[str] = set()
    for name in names:
        page = re.sub(r"[^A-Za-z0-9+._-]", "_", name).strip(".") or "structure"
        while page in taken:
            page += "_"
        taken.add(page)
        yield name, f"{page}.html"
