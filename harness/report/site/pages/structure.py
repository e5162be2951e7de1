"""The page of a structure: its claims, compared with what was found, and its scenarios."""

from __future__ import annotations

import itertools

import msgspec

from weakspot.harness.judge.claims import ClaimAnswer, claim_answers
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import StructureInfo, program_name, unique


class ClaimView(msgspec.Struct, frozen=True):
    """A claim with what was found, by model; `page` is that of its test or its program, `sites` are
    the source lines that it is about."""

    claim: Claim
    page: str
    found: dict[str, ClaimAnswer]
    seen: tuple[Histogram, ...]
    sites: tuple[str, ...]


def claim_views(site: SiteData, structure: StructureInfo) -> tuple[ClaimView, ...]:
    return tuple(_claim(site, structure, claim) for claim in structure.claims)


def _claim(site: SiteData, structure: StructureInfo, claim: Claim) -> ClaimView:
    record = site.record
    models = claim.explored or claim.verdict
    answers = claim_answers(record, structure.name, claim)
    found = {each.under: each for each in answers if each.under in models}
    if claim.explored:
        name = program_name(structure.name, claim.scenario)
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
