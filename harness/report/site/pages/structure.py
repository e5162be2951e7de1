"""The page of a structure: its claims, compared with what was found, its scenarios and tests."""

from __future__ import annotations

import itertools

import msgspec

from weakspot.harness.judge.claims import ClaimAnswer, claim_answers
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.litmus_table import table_of
from weakspot.harness.report.site.observations import families, shape_table
from weakspot.harness.report.site.pages import Page
from weakspot.harness.report.site.reproduction import of_structure
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import StructureInfo, program_name, unique

_ANSWERS = ("Never", "Sometimes", "Always", "Undefined", "Safe", "Violated", "Unknown")


def write(writer: SiteWriter) -> None:
    """Write the page of each structure."""
    for structure in writer.site.record.structures:
        _write(writer, structure)


def _write(writer: SiteWriter, structure: StructureInfo) -> None:
    site, record = writer.site, writer.site.record
    entries = record.tests_of(structure.name)
    claims = [_claim(site, structure, claim) for claim in structure.claims]
    page = site.structures[structure.name]
    data = page.removesuffix(".html") + ".js"
    table = table_of(site, entries, structure.models, data, structure.name)
    subjects = record.subjects_in(structure)
    writer.write(
        f"report/structures/{page}",
        "structure.html.j2",
        structure=structure,
        reproduction=of_structure(record, structure, writer.folder),
        page=page,
        shapes=shape_table(site, entries),
        families=families(site, structure.name),
        has_source=any(each.structure == structure.name for each in record.sources),
        findings=[
            each for each in record.findings if each.subject in subjects and not each.recorded
        ],
        claims=claims,
        columns=[model for model in structure.models if any(model in c.found for c in claims)],
        seen=any(each.seen for each in claims),
        answers=_ANSWERS,
        scenarios=scenarios(site, structure),
        explored=unique(each.model for each in record.explorations_in(structure)),
        pages=site.pages,
        table=writer.table(table, f"report/structures/{page}"),
    )


class ClaimView(msgspec.Struct, frozen=True):
    """A claim with what was found, by model; `page` is that of its test or its program, `sites` are
    the source lines that it is about."""

    claim: Claim
    page: str
    found: dict[str, ClaimAnswer]
    seen: tuple[Histogram, ...]
    sites: tuple[str, ...]


def _claim(site: SiteData, structure: StructureInfo, claim: Claim) -> ClaimView:
    record = site.record
    models = claim.explored or claim.verdict
    answers = claim_answers(record, structure.name, claim)
    found = {each.under: each for each in answers if each.under in models}
    if claim.explored:
        name = structure.program_of(claim)
        explored = (each for each in record.explorations_of.get(name, ()) if each.model in found)
        violations = (violation for each in explored for violation in each.violations)
        page, places = site.programs.get(name, ""), [each.sites for each in violations]
    else:
        entries = (each for each in record.tests_of(structure.name) if each.name == claim.test)
        origins = (origin for entry in entries for origin in entry.test.origins)
        threads = [each.sites for each in origins if each.structure == structure.name]
        page = site.pages.get(claim.test, "")
        places = [tuple(map(str, sites)) for sites in itertools.chain.from_iterable(threads)]
    histograms = record.histograms_of.get(claim.test, ())
    seen = tuple(each for each in histograms if each.arch in claim.seen)
    return ClaimView(claim, page, found, seen, unique(itertools.chain.from_iterable(places)))


def scenarios(
    site: SiteData, structure: StructureInfo
) -> list[tuple[Scenario, str, dict[str, Exploration]]]:
    """Each scenario with the page of its program and its explorations by model."""
    return [
        (
            scenario,
            site.programs.get(name, ""),
            {each.model: each for each in site.record.explorations_of.get(name, ())},
        )
        for scenario in structure.scenarios
        for name in (program_name(structure.name, scenario.name),)
    ]


PAGE = Page("structure", 1, "structures", write)
