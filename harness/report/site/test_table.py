"""The rows of the tables of tests, which site.js filters and sorts in the browser."""

from __future__ import annotations

from collections.abc import Sequence

from weakspot.harness.report.site.data import SiteData
from weakspot.harness.values.agreement import agreed_observation, conclusive, contradicts
from weakspot.harness.values.descriptions import describe_origin, machine_label
from weakspot.harness.values.record import Entry, Record
from weakspot.harness.values.verdict import Verdict

_LETTERS = {"Never": "N", "Sometimes": "S", "Always": "A", "Undefined": "U", "Unknown": "?"}


def rows(
    site: SiteData, entries: Sequence[Entry], models: Sequence[str], structure: str = ""
) -> list[list[object]]:
    """One row per test: name, page, shape, structures, origin, one letter per model, the counts per
    machine, and marks.

    Marks are f (observed and forbidden), s (observed), c (claimed), d (checkers disagree). Tests
    that a model is contradicted by come first, then claimed and observed ones.
    """
    record = site.record
    found: list[list[object]] = []
    for entry in sorted(entries, key=lambda entry: _order(site, entry)):
        letters = "".join(_letter(record, entry, model) for model in models)
        counts = record.histograms_of.get(entry.name, ())
        seen = [[machine_label(each, counts), each.target, each.iterations] for each in counts]
        marks = "".join(
            mark
            for mark, holds in (
                ("f", entry.name in site.contradicting),
                ("s", any(each.target for each in counts)),
                ("c", entry.name in site.claimed),
                ("d", "!" in letters),
            )
            if holds
        )
        found.append(
            [
                entry.name,
                site.pages[entry.name],
                entry.test.shape,
                " ".join(entry.structures),
                describe_origin(entry, structure),
                letters,
                seen,
                marks,
            ]
        )
    return found


def _order(site: SiteData, entry: Entry) -> tuple[bool, bool, bool, str]:
    seen = any(each.target for each in site.record.histograms_of.get(entry.name, ()))
    return (
        entry.name not in site.contradicting,
        entry.name not in site.claimed,
        not seen,
        entry.name,
    )


def _letter(record: Record, entry: Entry, model: str) -> str:
    verdicts = record.verdicts_of.get((entry.name, model))
    if not verdicts:
        return "-"
    if clash(verdicts):
        return "!"
    return _LETTERS[agreed_observation(record, entry.name, model) or "Unknown"]


def clash(verdicts: Sequence[Verdict]) -> bool:
    """Whether any two of the verdicts contradict each other."""
    decided = conclusive(verdicts)
    return any(contradicts(decided[0], other) for other in decided[1:]) if decided else False
