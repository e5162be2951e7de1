"""Writes the site.

    index.html                 the findings, the structures, every test
    report/structures/*.html   claims, scenarios, tests, source
    report/programs/*.html     one program: its explorations, runs and violations
    report/tests/*.html        one test: its cycle, verdicts, outcomes, source lines
    report/data/*.js           the rows of the tables, which site.js filters in the browser
    report/assets/             style and script

All links are relative, so that a campaign's folder can be moved.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from weakspot.harness.judge.findings import undecided
from weakspot.harness.judge.observed import ObservedOutcome, observed_outcomes
from weakspot.harness.report.campaign import summary
from weakspot.harness.report.site.data import SiteData, site_data
from weakspot.harness.report.site.program_page import program_view
from weakspot.harness.report.site.source_excerpts import SourceLine, sources
from weakspot.harness.report.site.structure_page import claim_views, scenarios
from weakspot.harness.report.site.test_page import test_view
from weakspot.harness.report.site.test_table import rows
from weakspot.harness.values.descriptions import (
    EMULATED,
    describe_origin,
    describe_steadiness,
    execution_count,
    machine_label,
    negative_result_strength,
    observed_share,
)
from weakspot.harness.values.record import (
    Entry,
    MachineInfo,
    Record,
    StructureInfo,
    program_name,
    unique,
)
from weakspot.harness.values.state import state_text
from weakspot.system.files import disk

_MOST = 100  # findings on one page
_ANSWERS = ("Never", "Sometimes", "Always", "Undefined", "Safe", "Violated", "Unknown")


def write_site(record: Record, folder: Path) -> Path:
    """Write the site into a folder, replacing an older one. Returns the path of its first page.

    Raises WeakspotError if the folder cannot be written.
    """
    view = site_data(record)
    pages = _Pages(folder, view)
    pages.assets()
    for structure in record.structures:
        _structure(pages, view, structure)
        _programs(pages, view, structure)
    for entry in record.entries:
        pages.write(
            f"report/tests/{view.pages[entry.name]}",
            "test.html.j2",
            view=test_view(view, entry),
            structures=view.structures,
        )
    _index(pages, view)
    return folder / "index.html"


class _Pages:
    """The folder that pages are written into, and the templates."""

    def __init__(self, folder: Path, view: SiteData) -> None:
        self.folder, self.view = folder, view
        self.site = Path(str(importlib.resources.files("weakspot.harness.report.site")))
        environment = Environment(
            loader=FileSystemLoader(self.site / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        excerpt = environment.get_template("code.html.j2")

        @lru_cache(maxsize=4096)  # many tests come from the same few source lines
        def code(lines: tuple[SourceLine, ...]) -> Markup:
            return Markup(excerpt.render(lines=lines))

        environment.filters.update(
            share=observed_share,
            negative_result_strength=negative_result_strength,
            state_text=state_text,
            execution_count=execution_count,
            profile=_profile,
            machine_label=machine_label,
            code=lambda excerpt: code(excerpt.lines),
        )
        self.templates = {
            name: environment.get_template(name)
            for name in ("index.html.j2", "structure.html.j2", "program.html.j2", "test.html.j2")
        }

    def assets(self) -> None:
        with disk(self.folder):
            for name in ("tests", "programs", "structures", "data", "assets"):
                place = self.folder / "report" / name
                place.mkdir(parents=True, exist_ok=True)
                for old in (*place.glob("*.html"), *place.glob("*.js")):
                    old.unlink()
            for name in ("style.css", "site.js"):
                content = (self.site / "assets" / name).read_bytes()
                (self.folder / "report" / "assets" / name).write_bytes(content)

    def write(self, path: str, template: str, **values: object) -> None:
        text = self.templates[template].render(
            values,
            root="../" * path.count("/"),
            most=_MOST,
            record=self.view.record,
            manifest=self.view.record.manifest,
            programs=self.view.programs,
        )
        with disk(self.folder / path):
            (self.folder / path).write_text(text, encoding="utf-8")

    def data(self, name: str, value: Mapping[str, object]) -> None:
        """A script that sets the table's data: a page opened from a file may load no JSON."""
        path = self.folder / "report" / "data" / name
        with disk(path):
            path.write_bytes(b"window.weakspot = " + msgspec.json.encode(value) + b";\n")


def _table(
    view: SiteData, entries: Sequence[Entry], models: Sequence[str], structure: str = ""
) -> dict[str, object]:
    return {
        "models": list(models),
        "machines": list({f"{h.machine} {h.runner}": None for h in view.record.histograms}),
        "scenarios": {
            entry.name: " ".join(dict.fromkeys(origin.scenario for origin in entry.test.origins))
            for entry in entries
        },
        "tests": rows(view, entries, models, structure),
    }


def _structure(pages: _Pages, view: SiteData, structure: StructureInfo) -> None:
    record = view.record
    entries = record.tests_of(structure.name)
    claims = claim_views(view, structure)
    page = view.structures[structure.name]
    data = page.removesuffix(".html") + ".js"
    pages.data(data, _table(view, entries, structure.models, structure.name))
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
        sources=sources(record, structure, view.contradicting),
        pages=view.pages,
        data=data,
    )


def _programs(pages: _Pages, view: SiteData, structure: StructureInfo) -> None:
    for scenario in structure.scenarios:
        page = view.programs.get(program_name(structure.name, scenario.name))
        if page is not None:
            pages.write(
                f"report/programs/{page}",
                "program.html.j2",
                view=program_view(view, structure, scenario),
                structures=view.structures,
            )


def _index(pages: _Pages, view: SiteData) -> None:
    record = view.record
    data = "all-tests.js"
    while data in {page.removesuffix(".html") + ".js" for page in view.structures.values()}:
        data = f"_{data}"
    pages.data(data, _table(view, record.entries, list(record.model)))
    state, text = summary(record)
    pages.write(
        "index.html",
        "index.html.j2",
        state=state,
        summary=text,
        figures=_figures(record),
        contradicting=_contradicting(view),
        errors=[each for each in record.findings if each.severity != "note" and not each.recorded],
        notes=[each for each in record.findings if each.severity == "note" or each.recorded],
        undecided=undecided(record),
        structures=[_row(view, structure) for structure in record.structures],
        pages=view.pages,
        data=data,
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
    return [
        {
            "name": name,
            "page": view.pages[name],
            "where": describe_origin(record.entry[name]),
            "seen": [
                f"{machine_label(each, record.histograms)} {observed_share(each)}"
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
        "programs": ", ".join(
            f"{results.count(result)} {label}" for result, label in labels if result in results
        ),
        "claims": str(len(structure.claims) or ""),
        "findings": sum(
            len([each for each in found if each.severity == "error" and not each.recorded])
            for subject, found in view.findings.items()
            if subject in subjects
        ),
    }


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
