"""The first page: the findings, the structures, every test, the models and machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weakspot.harness.judge.findings import undecided
from weakspot.harness.judge.observations import ObservedOutcome, observed_outcomes
from weakspot.harness.report.campaign import summary
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.litmus_table import table_of
from weakspot.harness.report.site.observations import shape_table
from weakspot.harness.report.site.pages import Page
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.descriptions import (
    EMULATED,
    describe_origin,
    machine_label,
    observed_share,
)
from weakspot.harness.values.finding import by_cause
from weakspot.harness.values.record import Entry, Record, StructureInfo, unique


def write(writer: SiteWriter) -> None:
    """Write the first page."""
    site, record = writer.site, writer.site.record
    data = "all-tests.js"
    while data in {page.removesuffix(".html") + ".js" for page in site.structures.values()}:
        data = f"_{data}"
    table = table_of(site, record.entries, list(record.model), data)
    state, text = summary(record)
    writer.write(
        "index.html",
        "index.html.j2",
        state=state,
        summary=text,
        figures=_figures(record),
        contradicting=_contradicting(site),
        errors=by_cause(
            each for each in record.findings if each.severity != "note" and not each.recorded
        ),
        notes=[each for each in record.findings if each.severity == "note" or each.recorded],
        undecided=undecided(record),
        structures=[_row(site, structure) for structure in record.structures],
        pages=site.pages,
        table=writer.table(table, "index.html"),
        shapes=shape_table(site, record.entries),
        emulated=EMULATED,
    )


def _figures(record: Record) -> list[tuple[str, str]]:
    runs = sum(each.iterations for each in record.histograms)
    found = [
        (len(record.structures), "structures"),
        (len(record.entries), "tests"),
        (len(record.verdicts), "verdicts"),
        (len(record.explorations_of), "programs"),
        (sum(each.executions for each in record.explorations), "executions"),
        (len(record.claims), "claims"),
        (len({each.machine for each in record.histograms}), "machines"),
        (runs, "iterations"),
    ]
    return [(f"{number:,}", what) for number, what in found if number]


def _contradicting(site: SiteData) -> list[dict[str, object]]:
    """One row per test, with the machines that contradict a model."""
    record = site.record
    found: dict[str, list[ObservedOutcome]] = {}
    for each in observed_outcomes(record):
        if each.contradicted and each.histogram.test in record.entry:
            found.setdefault(each.histogram.test, []).append(each)
    one_by_each_runner = {each.runner: each for each in record.histograms}.values()
    return [
        {
            "name": name,
            "page": site.pages[name],
            "where": describe_origin(record.entry[name]),
            "seen": [
                f"{machine_label(each, one_by_each_runner)} {observed_share(each)}"
                for each in (outcome.histogram for outcome in given)
            ],
            "contradicted": unique(model for each in given for model in each.contradicted),
            "allowed": given[0].allowed,
        }
        for name, given in found.items()
    ]


def _row(site: SiteData, structure: StructureInfo) -> dict[str, Any]:
    record = site.record
    entries = record.tests_of(structure.name)
    results = [each.result for each in record.explorations_in(structure)]
    subjects = record.subjects_in(structure)
    labels = (("Safe", "safe"), ("Violated", "violated"), ("Unknown", "not fully explored"))
    return {
        "name": structure.name,
        "page": site.structures[structure.name],
        "title": structure.title if structure.title != structure.name else "",
        "tests": f"{len(entries):,}",
        "observed": _observed(record, entries),
        "programs": ", ".join(
            f"{results.count(result)} {label}" for result, label in labels if result in results
        ),
        "claims": str(len(structure.claims) or ""),
        "findings": len(by_cause(each for each in record.errors if each.subject in subjects)),
    }


def _observed(record: Record, entries: Sequence[Entry]) -> str:
    """`12 of 31`: the tests that a machine showed, of those that ran."""
    given = [record.histograms_of.get(entry.name, ()) for entry in entries]
    ran = [those for those in given if any(each.iterations for each in those)]
    seen = [those for those in ran if any(each.target for each in those)]
    return f"{len(seen):,} of {len(ran):,}" if ran else ""


PAGE = Page("index", 5, "", write)
