"""From a violation to the hardware: without the exchange in its pop, a work-stealing queue gives an
element away twice; the execution is store buffering, which herd7 allows and x86 shows."""

from __future__ import annotations

import platform
from collections.abc import Callable

import pytest
from asking import verdicts

from weakspot.generators.litmus import Test
from weakspot.generators.pipeline import generate
from weakspot.generators.source.build import Build
from weakspot.harness import machines
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models, structures
from weakspot.harness.runners.litmus7 import Litmus7
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.histogram import Histogram
from weakspot.system.tools import Tool

STRUCTURE, SCENARIO = "duffy_wsq", "pop_vs_steal_pop_store"


@pytest.fixture(scope="module")
def double_take() -> Test:
    """The test of the violation's cycle, the same under each of the models that allow it."""
    structure = structures.find(STRUCTURE)
    (scenario,) = (each for each in structure.scenarios if each.name == SCENARIO)
    program = generate(
        structure.path(scenario),
        structure=STRUCTURE,
        scenario=SCENARIO,
        build=Build(defines=scenario.defines),
    )
    tests: list[Test] = []
    for model in ("tso", "rc11"):
        found = EngineExplorer().explore(
            program.named(STRUCTURE, SCENARIO),
            models.resolve(model),
            Bounds(),
        )
        assert found.result == "Violated"
        assert {violation.kind for violation in found.violations} == {"assertion"}
        tests += found.tests
        assert {violation.test for violation in found.violations} == {tests[-1].name}
    one, other = tests
    assert one.text == other.text
    return one


def test_the_double_take_is_the_store_buffering_that_is_claimed(double_take: Test) -> None:
    golden = {test.name: test for test in structures.find(STRUCTURE).golden()}
    assert double_take.shape == "SB"
    assert double_take.name == "SB+porelsc+poexchscsc"
    assert double_take.condition == golden[double_take.name].condition


@pytest.mark.parametrize("name", ["engine", "herd7"])
def test_checkers_allow_it_where_the_violation_is(
    double_take: Test, name: str, need: Callable[[str], Tool]
) -> None:
    if name == "herd7":
        need("herd7")
    checker = Engine() if name == "engine" else Herd7()
    found = {
        model: verdicts([double_take], model, checker=checker)[double_take.name].observation
        for model in ("sc", "tso", "rc11")
    }
    assert found == {"sc": "Never", "tso": "Sometimes", "rc11": "Sometimes"}


@pytest.mark.alone
@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86 shows store buffering")
def test_this_machine_shows_it(double_take: Test, need: Callable[[str], Tool]) -> None:
    for tool in ("litmus7", "gcc", "make"):
        need(tool)
    counts: list[Histogram] = []
    for _ in range(30):  # until it is seen: chance decides, and on x86 it decides soon
        Litmus7().run([double_take], machines.resolve("local"), seconds=1.0, done=counts.append)
        if counts[-1].target:
            break
    assert any(histogram.target for histogram in counts)
