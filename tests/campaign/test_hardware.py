"""What runs on a machine: everything, or with a budget what says most."""

from __future__ import annotations

import msgspec
import pytest
from fakes import FakeMachine, FakeRunner, generated, make_test
from records import claim, exploration, record, verdict

from weakspot.harness.campaign.hardware import LEAST, runs
from weakspot.harness.corpus.material import Material, ScenarioProgram
from weakspot.harness.runners import RunLimits, share
from weakspot.harness.values.record import Entry
from weakspot.system.deadline import NEVER, ending

ANSWERS = {
    # by sc, by tso, by rc11
    "plain": ("Sometimes", "Sometimes", "Sometimes"),
    "forbidden": ("Never", "Never", "Never"),
    "by the compiler": ("Never", "Never", "Sometimes"),
    "claimed": ("Never", "Never", "Never"),
    "weak": ("Never", "Sometimes", "Sometimes"),
}
BY_TELLING = ["weak", "claimed", "by the compiler", "forbidden", "plain"]


def other(name: str) -> FakeRunner:
    runner = FakeRunner()
    runner.name = name
    return runner


def entry(name: str) -> Entry:
    return Entry(
        test=make_test(name),
        structures=("flags",),
        models=("sc", "tso", "rc11"),
        digest=name,
        file=f"{name}.litmus",
    )


def program(name: str) -> ScenarioProgram:
    return ScenarioProgram(
        structure="flags", scenario=name, generated=generated([], name), models=()
    )


def asked(
    limits: RunLimits, *names: str, programs: tuple[str, ...] = ()
) -> tuple[list[str], list[tuple[str, int, int]]]:
    """The names of what runs, by two runners, in order; and what is left out."""
    models = ("sc", "tso", "rc11")
    verdicts = [
        verdict(observation, model, test=name)
        for name, each in ANSWERS.items()
        for model, observation in zip(models, each, strict=True)
    ]
    explored = [
        msgspec.structs.replace(exploration(result, model=model), program=f"flags/{name}")
        for name, found in (("safe", "Safe"), ("fails", "Violated"))
        for model, result in (("sc", "Safe"), ("tso", found), ("rc11", found))
    ]
    material = Material(
        structures=(),
        entries=tuple(map(entry, names)),
        programs=tuple(map(program, programs)),
        sources=(),
    )
    made = runs(
        material,
        record(*verdicts, *explored, claims=(claim(test="claimed"),)),
        FakeMachine(),  # type: ignore[arg-type]
        [FakeRunner(), other("other")],
        (lambda *_, **__: None) if programs else None,
        limits,
    )
    found = [getattr(job, "name", None) or job.test.name for job in made.jobs]  # type: ignore[attr-defined]
    left_out = [
        (each.what, each.count - each.chosen, each.count)
        for each in made.shares
        if each.chosen < each.count
    ]
    return found, left_out


def test_without_a_budget_everything_runs_in_its_order() -> None:
    names = list(ANSWERS)
    assert asked(RunLimits(1.0), *names) == (names + names, [])


def test_with_a_budget_what_says_most_comes_first() -> None:
    found, left_out = asked(RunLimits(1.0, budget=60.0), *ANSWERS)
    assert (found, left_out) == (BY_TELLING + BY_TELLING, [])


def test_what_a_budget_leaves_out_is_counted() -> None:
    found, left_out = asked(RunLimits(1.0, budget=6 * LEAST), *ANSWERS)
    assert found == BY_TELLING[:4] + BY_TELLING[:2]
    assert left_out == [("tests by fake-runner", 1, 5), ("tests by other", 3, 5)]


def test_a_program_that_may_fail_here_comes_before_one_that_is_safe() -> None:
    found, left_out = asked(RunLimits(1.0, budget=4 * LEAST), "weak", programs=("safe", "fails"))
    assert found == ["flags/fails", "weak", "weak"]
    assert left_out == [("programs", 1, 2)]


@pytest.mark.parametrize("left", [0.1, 0.5, 3.0])
def test_a_test_that_is_late_runs_half_of_its_time_at_least(left: float) -> None:
    assert 0.4 * left <= share(10.0, ending(5 * left), 5) <= left
    assert share(0.01, ending(5 * left), 5) == 0.01
    assert share(1.0, NEVER, 5) == 1.0


def test_in_time_a_test_has_a_second_more_than_it_runs() -> None:
    assert share(10.0, RunLimits(10.0, limited=True).end(5), 5) == pytest.approx(10.0, abs=0.1)
