"""What the corpus records is what the engine finds. Each of these tests is compared with herd7 in
tests/checkers/test_engine.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec
import pytest
from asking import verdicts
from scenarios import generated

from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import Fence, Guard, Store, Test
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import Structure, structures
from weakspot.harness.judge.claims import matches_recorded
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.claims import Claim, Explored
from weakspot.harness.values.descriptions import describe_exploration
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.verdict import Observation

STRUCTURES = structures()
by_name = pytest.mark.parametrize("structure", STRUCTURES, ids=[each.name for each in STRUCTURES])


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


@cache
def explored(structure: str, scenario: str, model: str) -> Exploration:
    return EngineExplorer().explore(
        generated(structure, scenario).named(structure, scenario),
        models.resolve(model),
        Bounds(seconds=60.0),
    )


def small(structure: Structure) -> list[Claim]:
    """The claims about programs that are not large."""
    large = {scenario.name for scenario in structure.scenarios if scenario.large}
    return [claim for claim in structure.claims if claim.scenario not in large]


@by_name
def test_explorations_are_as_recorded(structure: Structure) -> None:
    pairs = [(claim, claim.explored) for claim in small(structure)]
    assert not list(differing(structure, pairs))


@by_name
def test_explorations_under_imm_are_as_recorded(structure: Structure) -> None:
    pairs = [(claim, within(claim.machines, "imm")) for claim in small(structure)]
    assert not list(differing(structure, pairs))


@pytest.mark.full
@by_name
def test_explorations_of_large_programs_are_as_recorded(structure: Structure) -> None:
    rest = small(structure)
    pairs = [(claim, claim.explored) for claim in structure.claims if claim not in rest]
    assert not list(differing(structure, pairs))


@pytest.mark.full
@by_name
def test_explorations_under_the_models_of_machines_are_as_recorded(structure: Structure) -> None:
    assert not list(differing(structure, [(each, each.machines) for each in structure.claims]))


def differing(
    structure: Structure, recorded: Iterable[tuple[Claim, Mapping[str, Explored]]]
) -> Iterator[str]:
    """Scenarios of which something else is found than recorded."""
    for claim, expected in recorded:
        for model, result in expected.items():
            found = explored(structure.name, claim.scenario, model)
            if matches_recorded(found, result) is not True:
                yield f"{claim.scenario} under {model}: {result}, {describe_exploration(found)}"


def within(recorded: Mapping[str, Explored], model: str) -> Mapping[str, Explored]:
    return {name: result for name, result in recorded.items() if name == model}


@by_name
def test_what_imm_allows_no_violation_of_is_safe_on_each_machine(structure: Structure) -> None:
    for claim in structure.claims:
        if claim.machines.get("imm") == "Safe":
            assert set(claim.machines.values()) == {"Safe"}, claim.scenario


def of_violations(structure: Structure) -> Iterator[tuple[str, dict[str, Test]]]:
    """The tests of what a structure's scenarios violate, by model and name."""
    for model in {model for claim in small(structure) for model in claim.explored}:
        yield (
            model,
            {
                test.name: test
                for claim in small(structure)
                if model in claim.explored
                for test in explored(structure.name, claim.scenario, model).tests
            },
        )


@by_name
def test_the_test_of_a_violation_is_allowed_where_the_violation_is(structure: Structure) -> None:
    for model, tests in of_violations(structure):
        found = {each.observation for each in verdicts(list(tests.values()), model).values()}
        assert found <= {"Sometimes", "Always", "Undefined"}, (model, found)


@by_name
def test_no_access_of_the_test_of_a_violation_can_be_left_out(structure: Structure) -> None:
    """Without it the threads may take turns to the outcome that is left, or the outcome cannot come
    about any more: sc or the model of the violation answers otherwise. A fence may stay that makes
    no difference: it is what is not enough."""
    for model, tests in of_violations(structure):
        for test in tests.values():
            less = tuple(with_one_less(test))
            whole, *answers = answered((test, *less), ("sc", model))
            assert len(less) > 1
            assert whole not in answers, (model, test.name, less[answers.index(whole)].text)


def answered(tests: tuple[Test, ...], names: tuple[str, ...]) -> list[tuple[Observation, ...]]:
    """What the engine says of each test under each model."""
    found = observations(tests, set(names))
    return [tuple(found[test.name, name] for name in names) for test in tests]


def with_one_less(test: Test) -> Iterator[Test]:
    """The test without one of its accesses, and without what its condition says of it."""
    assert test.body is not None
    for number, thread in enumerate(test.body.threads):
        for at, access in enumerate(thread):
            if isinstance(access, Fence | Guard):
                continue
            reg = "" if isinstance(access, Store) else access.reg
            rest = (*thread[:at], *thread[at + 1 :])
            remaining = tuple(
                each for each in rest if not (isinstance(each, Guard) and each.reg == reg)
            )
            body = msgspec.structs.replace(
                test.body,
                threads=(*test.body.threads[:number], remaining, *test.body.threads[number + 1 :]),
                atoms=tuple(
                    atom for atom in test.body.atoms if (atom.thread, atom.name) != (number, reg)
                ),
            )
            name = f"{test.name}-{number}-{at}"
            text = litmus_text(name, test.cycle, body)
            yield msgspec.structs.replace(test, name=name, text=text, body=body)


@by_name
def test_a_violation_under_a_weak_model_alone_has_a_test(structure: Structure) -> None:
    """But for races of threads that never communicate and for memory freed too early, which need
    no cycle."""
    for claim in small(structure):
        weak = {model for model, result in claim.explored.items() if result.startswith("Violated")}
        if claim.explored.get("sc") != "Safe":
            continue
        for model in weak:
            for violation in explored(structure.name, claim.scenario, model).violations:
                lone = violation.witness is not None and violation.witness.conflict is not None
                freed = violation.kind == "memory"
                assert violation.test or lone or freed, (claim.scenario, model, violation)


@by_name
def test_a_verdict_is_recorded_for_each_model(structure: Structure) -> None:
    for claim in structure.claims:
        if claim.test:
            assert set(claim.verdict) == set(structure.models), (claim.scenario, claim.test)


@by_name
def test_verdicts_are_as_recorded(structure: Structure) -> None:
    wanted: dict[tuple[str, str], Observation] = {}
    asked: dict[str, Test] = {}
    for claim in structure.claims:
        if claim.test:
            asked[claim.test] = material(structure, claim.scenario)[claim.test]
            for model, observation in claim.verdict.items():
                assert wanted.setdefault((claim.test, model), observation) == observation
    assert observations(asked.values(), structure.models) == wanted


@by_name
def test_an_outcome_that_x86_may_show_and_another_model_forbids_is_recorded_as_seen(
    structure: Structure,
) -> None:
    """Else the main job fails on some machines and not on others."""
    if "tso" not in structure.models:
        return
    tests = {test.name: test for each in structure.scenarios for test in made(structure, each.name)}
    shown = {
        test
        for (test, _), seen in observations(tests.values(), ["tso"]).items()
        if seen == "Sometimes"
    }
    promising = [name for name in structure.models if models.resolve(name).role != "reference"]
    found = observations([tests[name] for name in shown], promising)
    contradicted = {test for (test, _), observation in found.items() if observation == "Never"}
    assert contradicted <= {claim.test for claim in structure.claims if "x86_64" in claim.seen}


def made(structure: Structure, scenario: str) -> tuple[Test, ...]:
    return generated(structure.name, scenario).tests


def observations(tests: Iterable[Test], names: Iterable[str]) -> dict[tuple[str, str], Observation]:
    return {
        (test, name): verdict.observation
        for name in names
        for test, verdict in verdicts(list(tests), name).items()
    }
