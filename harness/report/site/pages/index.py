"""Writes the site.

    index.html                 the findings, the structures, every test
    report/structures/*.html   claims, scenarios, tests, source
    report/programs/*.html     one program: its explorations, runs and violations
    report/tests/*.html        one test: its cycle, verdicts, outcomes, source lines
    report/sources/*.html      the source of a structure, with its atomic operations marked
    report/lists/*.html        the rows of the tables of tests after the first ones
    report/data/*.js           the rows of the tables, which table.js filters in the browser
    report/assets/             style and scripts

All links are relative, so that a campaign's folder can be moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from weakspot.harness.judge.findings import undecided
from weakspot.harness.judge.observations import ObservedOutcome, observed_outcomes
from weakspot.harness.report.campaign import summary
from weakspot.harness.report.site.data import SiteData, site_data
from weakspot.harness.report.site.litmus_page import test_view
from weakspot.harness.report.site.litmus_table import PAGE, TestTable, table_of
from weakspot.harness.report.site.observations import families, shape_table
from weakspot.harness.report.site.pages import Pages, Templates
from weakspot.harness.report.site.program_page import program_view
from weakspot.harness.report.site.reproduction import of_program, of_structure, of_test
from weakspot.harness.report.site.source_page import TITLES, source_view
from weakspot.harness.report.site.structure_page import claim_views, scenarios
from weakspot.harness.values.descriptions import (
    EMULATED,
    describe_evidence,
    describe_origin,
    describe_steadiness,
    machine_label,
    observed_share,
)
from weakspot.harness.values.finding import by_cause
from weakspot.harness.values.numbers import scientific
from weakspot.harness.values.rates import rate
from weakspot.harness.values.record import (
    Entry,
    MachineInfo,
    Record,
    StructureInfo,
    program_name,
    unique,
)

_MOST = 100  # findings on one page
_ANSWERS = ("Never", "Sometimes", "Always", "Undefined", "Safe", "Violated", "Unknown")


def write_site(record: Record, folder: Path) -> Path:
    """Write the site into a folder, replacing an older one. Returns the path of its first page.

    Raises WeakspotError if the folder cannot be written.
    """
    view = site_data(record)
    templates = Templates()
    templates.environment.filters.update(
        profile=_profile, rate_text=_rate_text, evidence_text=describe_evidence
    )
    templates.environment.globals["source_link"] = view.source_link
    common = {
        "most": _MOST,
        "page_size": PAGE,
        "record": record,
        "manifest": record.manifest,
        "programs": view.programs,
        "structures": view.structures,
    }
    pages = Pages(folder, templates, common)
    pages.assets()
    for structure in record.structures:
        _structure(pages, view, structure)
        _programs(pages, view, structure)
    for entry in record.entries:
        pages.write(
            f"report/tests/{view.pages[entry.name]}",
            "test.html.j2",
            view=test_view(view, entry),
            reproduction=of_test(record, entry, folder),
        )
    _index(pages, view)
    return folder / "index.html"


def _table(pages: Pages, table: TestTable, page: str) -> TestTable:
    """Write the data of a table and the lists of its later rows; `page` shows the table."""
    pages.data(table.data, table.encoded())
    for at, name in enumerate(table.lists, 1):
        pages.write(
            f"report/lists/{name}",
            "list.html.j2",
            table=table,
            first=at * PAGE + 1,
            last=min((at + 1) * PAGE, len(table.rows)),
            back=f"../../{quote(page)}",
        )
    return table


def _rate_text(counts: tuple[int, int]) -> str:
    """`2.3·10⁻³ (1.9·10⁻³ to 2.8·10⁻³)`"""
    found = rate(*counts)
    return f"{scientific(found.value)} ({scientific(found.low)} to {scientific(found.high)})"


def _structure(pages: Pages, view: SiteData, structure: StructureInfo) -> None:
    record = view.record
    entries = record.tests_of(structure.name)
    claims = claim_views(view, structure)
    page = view.structures[structure.name]
    data = page.removesuffix(".html") + ".js"
    table = table_of(view, entries, structure.models, data, structure.name)
    source = source_view(view, structure)
    names = {
        structure.name,
        *(program_name(structure.name, each.name) for each in structure.scenarios),
    }
    subjects = names | {entry.name for entry in entries}
    subjects |= {claim.test for claim in structure.claims}
    pages.write(
        f"report/structures/{page}",
        "structure.html.j2",
        structure=structure,
        reproduction=of_structure(record, structure, pages.folder),
        page=page,
        shapes=shape_table(view, entries),
        families=families(view, structure.name),
        has_source=bool(source.files),
        findings=[
            each for each in record.findings if each.subject in subjects and not each.recorded
        ],
        claims=claims,
        columns=[model for model in structure.models if any(model in c.found for c in claims)],
        seen=any(each.seen for each in claims),
        answers=_ANSWERS,
        scenarios=scenarios(view, structure),
        explored=unique(
            each.model for name in names for each in record.explorations_of.get(name, ())
        ),
        pages=view.pages,
        table=_table(pages, table, f"report/structures/{page}"),
    )
    if source.files:
        pages.write(
            f"report/sources/{page}",
            "source.html.j2",
            structure=structure,
            page=page,
            view=source,
            titles=TITLES,
        )


def _programs(pages: Pages, view: SiteData, structure: StructureInfo) -> None:
    for scenario in structure.scenarios:
        page = view.programs.get(program_name(structure.name, scenario.name))
        if page is not None:
            pages.write(
                f"report/programs/{page}",
                "program.html.j2",
                view=program_view(view, structure, scenario),
                reproduction=of_program(view.record, structure, scenario, pages.folder),
            )


def _index(pages: Pages, view: SiteData) -> None:
    record = view.record
    data = "all-tests.js"
    while data in {page.removesuffix(".html") + ".js" for page in view.structures.values()}:
        data = f"_{data}"
    table = table_of(view, record.entries, list(record.model), data)
    state, text = summary(record)
    pages.write(
        "index.html",
        "index.html.j2",
        state=state,
        summary=text,
        figures=_figures(record),
        contradicting=_contradicting(view),
        errors=by_cause(
            each for each in record.findings if each.severity != "note" and not each.recorded
        ),
        notes=[each for each in record.findings if each.severity == "note" or each.recorded],
        undecided=undecided(record),
        structures=[_row(view, structure) for structure in record.structures],
        pages=view.pages,
        table=_table(pages, table, "index.html"),
        shapes=shape_table(view, record.entries),
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
        (sum(len(structure.claims) for structure in record.structures), "claims"),
        (len({each.machine for each in record.histograms}), "machines"),
        (runs, "iterations"),
    ]
    return [(f"{number:,}", what) for number, what in found if number]


def _contradicting(view: SiteData) -> list[dict[str, object]]:
    """One row per test, with the machines that contradict a model."""
    record = view.record
    found: dict[str, list[ObservedOutcome]] = {}
    for each in observed_outcomes(record):
        if each.contradicted and each.histogram.test in record.entry:
            found.setdefault(each.histogram.test, []).append(each)
    one_by_each_runner = {each.runner: each for each in record.histograms}.values()
    return [
        {
            "name": name,
            "page": view.pages[name],
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


def _row(view: SiteData, structure: StructureInfo) -> dict[str, Any]:
    record = view.record
    entries = record.tests_of(structure.name)
    names = {program_name(structure.name, each.name) for each in structure.scenarios}
    results = [each.result for name in names for each in record.explorations_of.get(name, ())]
    subjects = names | {structure.name} | {entry.name for entry in entries}
    subjects |= {claim.test for claim in structure.claims}
    labels = (("Safe", "safe"), ("Violated", "violated"), ("Unknown", "not fully explored"))
    return {
        "name": structure.name,
        "page": view.structures[structure.name],
        "title": structure.title if structure.title != structure.name else "",
        "tests": f"{len(entries):,}",
        "observed": _observed(record, entries),
        "programs": ", ".join(
            f"{results.count(result)} {label}" for result, label in labels if result in results
        ),
        "claims": str(len(structure.claims) or ""),
        "findings": len(
            by_cause(
                each
                for subject, found in view.findings.items()
                if subject in subjects
                for each in found
                if each.severity == "error" and not each.recorded
            )
        ),
    }


def _observed(record: Record, entries: Sequence[Entry]) -> str:
    """`12 of 31`: the tests that a machine showed, of those that ran."""
    given = [record.histograms_of.get(entry.name, ()) for entry in entries]
    ran = [those for those in given if any(each.iterations for each in those)]
    seen = [those for those in ran if any(each.target for each in those)]
    return f"{len(seen):,} of {len(ran):,}" if ran else ""


def _profile(machine: MachineInfo) -> Iterator[tuple[str, str]]:
    """The properties of a machine, as text; empty for those that could not be read."""
    profile = {**machine.profile, "evenness": describe_steadiness(machine.profile)}
    yield "arch", machine.arch
    for name, value in profile.items():
        if name in ("machine", "arch", *_MEASURED) or (name in _RARE and value is None):
            continue
        if name == "memory" and isinstance(value, int):
            value = f"{value / (1 << 30):.1f} GiB"
        yield name.replace("_", " "), "" if value is None else _text(value)


_MEASURED = ("probes", "throttling", "steal")  # printed as evenness
_RARE = ("quota", "emulator")  # left out where absent, which is the usual case


def _text(value: object) -> str:
    """A value of a machine's profile."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
