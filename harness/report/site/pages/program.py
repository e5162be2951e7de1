"""The page of an explored program: explorations, runs on machines, violations with witnesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.harness.report import witness
from weakspot.harness.report.drawing import of_witness
from weakspot.harness.report.folding import folded
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.diagrams import Diagram, diagram
from weakspot.harness.report.site.pages import Page
from weakspot.harness.report.site.reproduction import of_program
from weakspot.harness.report.site.source_excerpts import source_excerpts
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.record import program_name


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


def write(writer: SiteWriter) -> None:
    """Write the page of each explored program."""
    site = writer.site
    for structure in site.record.structures:
        for scenario in structure.scenarios:
            name = program_name(structure.name, scenario.name)
            if name not in site.programs:
                continue
            violations = _violations(site, site.record.explorations_of[name])
            places = [place for each in violations for place in _places(each.violation)]
            writer.write(
                f"report/programs/{site.programs[name]}",
                "program.html.j2",
                name=name,
                structure=structure.name,
                scenario=scenario,
                explorations=site.record.explorations_of[name],
                runs=site.record.runs_of.get(name, ()),
                violations=violations,
                findings=site.findings.get(name, ()),
                excerpts=source_excerpts(site, structure.name, places),
                reproduction=of_program(site.record, structure, scenario, writer.folder),
            )


def _violations(site: SiteData, explorations: Iterable[Exploration]) -> list[ViolationView]:
    """Each violation once, with the models that allow it."""
    found: defaultdict[str, list[tuple[str, Violation]]] = defaultdict(list)
    for exploration in explorations:
        for violation in (*exploration.violations, *exploration.warnings):
            found[violation.key].append((exploration.model, violation))
    return [_violation(site, given) for given in found.values()]


def _violation(site: SiteData, given: Sequence[tuple[str, Violation]]) -> ViolationView:
    shown = min((violation for _, violation in given), key=lambda each: each.size)
    return ViolationView(
        violation=shown,
        models=tuple(dict.fromkeys(model for model, _ in given)),
        columns=tuple(witness.columns(shown.witness)),
        diagram=diagram(of_witness(folded(shown.witness)[0])) if shown.witness else None,
        page=site.pages.get(shown.test, ""),
    )


def _places(violation: Violation) -> list[str]:
    events = violation.witness.events if violation.witness else ()
    return [*(event.site for event in events), *violation.sites]


PAGE = Page("program", 3, "programs", write)
