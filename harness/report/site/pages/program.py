"""The page of an explored program: explorations, runs on machines, violations with witnesses."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from weakspot.harness.report import witness
from weakspot.harness.report.folding import folded
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.diagrams import Diagram, witness_diagram
from weakspot.harness.report.site.pages import Page
from weakspot.harness.report.site.reproduction import of_program
from weakspot.harness.report.site.source_excerpts import SourceExcerpt, source_excerpts
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import StructureInfo, program_name


class ViolationView(msgspec.Struct, frozen=True, kw_only=True):
    """A violation, the models that allow it, and its shortest witness."""

    violation: Violation
    models: tuple[str, ...]
    columns: tuple[str, ...]
    diagram: Diagram | None
    page: str  # of the test of its critical cycle

    @property
    def title(self) -> str:
        """The violation's message, after its kind unless its first word names that."""
        kind, message = self.violation.kind, self.violation.message
        return message if kind in message.partition(" ")[0] else f"{kind}: {message}"


class ProgramView(msgspec.Struct, frozen=True, kw_only=True):
    """An explored program's page."""

    name: str
    structure: str
    scenario: Scenario
    explorations: tuple[Exploration, ...]
    runs: tuple[ProgramRun, ...]
    violations: tuple[ViolationView, ...]
    findings: tuple[Finding, ...]
    excerpts: tuple[SourceExcerpt, ...]  # the source lines of all witnesses' events


def write(writer: SiteWriter) -> None:
    """Write the page of each explored program."""
    site = writer.site
    for structure in site.record.structures:
        for scenario in structure.scenarios:
            page = site.programs.get(program_name(structure.name, scenario.name))
            if page is not None:
                writer.write(
                    f"report/programs/{page}",
                    "program.html.j2",
                    view=program_view(site, structure, scenario),
                    reproduction=of_program(site.record, structure, scenario, writer.folder),
                )


def program_view(site: SiteData, structure: StructureInfo, scenario: Scenario) -> ProgramView:
    record = site.record
    name = program_name(structure.name, scenario.name)
    explorations = record.explorations_of[name]
    found: defaultdict[str, list[tuple[str, Violation]]] = defaultdict(list)
    for exploration in explorations:
        for violation in (*exploration.violations, *exploration.warnings):
            found[violation.key].append((exploration.model, violation))
    return ProgramView(
        name=name,
        structure=structure.name,
        scenario=scenario,
        explorations=explorations,
        runs=record.runs_of.get(name, ()),
        violations=(views := tuple(_violation(site, given) for given in found.values())),
        findings=site.findings.get(name, ()),
        excerpts=source_excerpts(
            site, structure.name, [place for view in views for place in _places(view.violation)]
        ),
    )


def _violation(site: SiteData, given: Sequence[tuple[str, Violation]]) -> ViolationView:
    shown = min(
        (violation for _, violation in given),
        key=lambda each: len(each.witness.events) if each.witness else math.inf,
    )
    return ViolationView(
        violation=shown,
        models=tuple(dict.fromkeys(model for model, _ in given)),
        columns=tuple(witness.columns(shown.witness)),
        diagram=witness_diagram(folded(shown.witness)[0]) if shown.witness else None,
        page=site.pages.get(shown.test, ""),
    )


def _places(violation: Violation) -> list[str]:
    events = violation.witness.events if violation.witness else ()
    return [*(event.site for event in events), *violation.sites]


PAGE = Page("program", 3, "programs", write)
