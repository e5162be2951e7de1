"""What the corpus records is what the engine and herd7 find."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import pytest

from weakspot.generators.litmus import Test
from weakspot.generators.pipeline import Generated, generate
from weakspot.harness import models
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.structures import Structure, structures
from weakspot.harness.tools import Tool
from weakspot.harness.verdict import Observation, Verdict

STRUCTURES = structures()
by_name = pytest.mark.parametrize("structure", STRUCTURES, ids=[each.name for each in STRUCTURES])


@cache
def generated(name: str) -> dict[str, Generated]:
    structure = next(each for each in STRUCTURES if each.name == name)
    return {
        scenario.name: generate(
            structure.path(scenario),
            structure=structure.name,
            scenario=scenario.name,
            defines=scenario.defines,
        )
        for scenario in structure.scenarios
    }


def material(structure: Structure, scenario: str) -> dict[str, Test]:
    hand = {test.name: test for test in structure.hand_written()}
    found = made(structure, scenario) if scenario else ()
    return {**hand, **{test.name: test for test in found}}


@by_name
def test_a_claimed_test_comes_from_its_scenario_or_was_written_by_hand(
    structure: Structure,
) -> None:
    for claim in structure.claims:
        if claim.test:
            assert claim.test in material(structure, claim.scenario), claim.scenario


@by_name
def test_a_test_written_by_hand_serves_a_claim(structure: Structure) -> None:
    claimed = {claim.test for claim in structure.claims}
    assert {test.name for test in structure.hand_written()} <= claimed


@by_name
def test_interleavings_are_as_recorded(structure: Structure) -> None:
    for claim in structure.claims:
        if claim.interleavings:
            failures = generated(structure.name)[claim.scenario].failures
            found = "Violated" if failures else "Safe"
            assert found == claim.interleavings, (claim.scenario, failures)


@by_name
def test_a_verdict_is_recorded_for_each_model(structure: Structure) -> None:
    for claim in structure.claims:
        if claim.test:
            assert set(claim.verdict) == set(structure.models), (claim.scenario, claim.test)


@by_name
def test_verdicts_are_as_recorded(structure: Structure, need: Callable[[str], Tool]) -> None:
    need("herd7")
    wanted: dict[tuple[str, str], Observation] = {}
    asked: dict[str, Test] = {}
    for claim in structure.claims:
        if claim.test:
            asked[claim.test] = material(structure, claim.scenario)[claim.test]
            for model, observation in claim.verdict.items():
                assert wanted.setdefault((claim.test, model), observation) == observation
    assert observations(asked.values(), structure.models) == wanted


@by_name
def test_what_x86_may_show_and_another_model_forbids_is_recorded_as_seen(
    structure: Structure, need: Callable[[str], Tool]
) -> None:
    """Else the main job fails on some machines and not on others."""
    need("herd7")
    tests = {test.name: test for each in structure.scenarios for test in made(structure, each.name)}
    found = observations(tests.values(), structure.models)
    contradicted = {
        test
        for test in tests
        if found[test, "tso"] == "Sometimes"
        and any(
            found[test, name] == "Never" and models.resolve(name).role != "reference"
            for name in structure.models
        )
    }
    assert contradicted <= {claim.test for claim in structure.claims if "x86_64" in claim.seen}


def made(structure: Structure, scenario: str) -> tuple[Test, ...]:
    return generated(structure.name)[scenario].tests


def observations(tests: Iterable[Test], names: Iterable[str]) -> dict[tuple[str, str], Observation]:
    found: dict[tuple[str, str], Observation] = {}

    def done(verdict: Verdict) -> None:
        found[verdict.test, verdict.model] = verdict.observation

    for name in names:
        Herd7().check(list(tests), models.resolve(name), seconds=60, done=done)
    return found
