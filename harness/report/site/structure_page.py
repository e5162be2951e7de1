"""The page of a structure: its claims, compared with what was found, and its scenarios."""

from __future__ import annotations

import itertools

import msgspec

from weakspot.harness.judge.claims import matches_recorded
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.values.agreement import agreed_observation
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.descriptions import exploration_outcome
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import StructureInfo, program_name, unique


class ClaimComparison(msgspec.Struct, frozen=True):
    """What a claim records for a model, and what was found; `fits` is None if that is open."""

    recorded: str
    found: str
    fits: bool | None


class ClaimView(msgspec.Struct, frozen=True):
    """A claim with what was found, by model; `page` is that of its test or its program, `sites` are
    the source lines that it is about."""

    claim: Claim
    page: str
    found: dict[str, ClaimComparison]
    seen: tuple[Histogram, ...]
    sites: tuple[str, ...] = ()


def claim_views(site: SiteData, structure: StructureInfo) -> tuple[ClaimView, ...]:
    return tuple(_claim(site, structure, claim) for claim in structure.claims)


def _claim(site: SiteData, structure: StructureInfo, claim: Claim) -> ClaimView:
    record = site.record
    if claim.explored:
        name = program_name(structure.name, claim.scenario)
        given = {each.model: each for each in record.explorations_of.get(name, ())}
        return ClaimView(
            claim,
            site.programs.get(name, ""),
            {
                model: ClaimComparison(
                    expected,
                    exploration_outcome(given[model]) if model in given else "not explored",
                    matches_recorded(given[model], expected) if model in given else None,
                )
                for model, expected in claim.explored.items()
            },
            (),
            unique(
                place
                for model in claim.explored
                if model in given
                for each in given[model].violations
                for place in each.sites
            ),
        )
    found: dict[str, ClaimComparison] = {}
    wrong = {
        model
        for each in site.findings.get(claim.test, ())
        if each.id == "WS001" and each.severity == "error"
        for model in each.models
    }
    for model, expected in claim.verdict.items():
        answer = agreed_observation(record, claim.test, model) or "not checked"
        matched = None if answer in ("not checked", "Unknown") else answer == expected
        if matched is False and model not in wrong:
            matched = True  # a checker that answers less than the claim does not contradict it
        found[model] = ClaimComparison(expected, answer, matched)
    seen = tuple(
        each for each in record.histograms_of.get(claim.test, ()) if each.arch in claim.seen
    )
    sites = unique(
        str(each)
        for entry in record.tests_of(structure.name)
        if entry.name == claim.test
        for origin in entry.test.origins
        if origin.structure == structure.name
        for each in itertools.chain.from_iterable(origin.sites)
    )
    return ClaimView(claim, site.pages.get(claim.test, ""), found, seen, sites)


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
