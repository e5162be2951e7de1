"""The time budget: no scenario starves the others, and what they leave goes round again."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from projects import Project

from weakspot.errors import LimitReached
from weakspot.harness.gate.scenarios import Scenario
from weakspot.system.deadline import Deadline

HEAVY = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
static void *add(void *none) {
  for (int i = 0; i < STEPS; i++)
    atomic_fetch_add(&x, 1), atomic_fetch_add(&y, 1);
  return none;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], 0, add, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], 0);
}
"""
LIGHT = HEAVY.replace("STEPS", "1")


@pytest.fixture
def heavy(project: Project) -> Project:
    """A scenario without an end, the last of two, and room for machine models."""
    project.write("tests/light.c", LIGHT)
    project.write("tests/most.c", HEAVY.replace("STEPS", "4"))
    project.write(
        "weakspot.toml",
        'machine_models = ["imm"]\n[gate]\nscenarios = ["tests/*.c"]\nbudget = "6s"\n',
    )
    return project


def test_a_heavy_scenario_leaves_the_others_time_for_every_model(heavy: Project) -> None:
    printed = heavy.gate().printed(3)
    assert printed.count("undecided: ") == 1
    assert "1 scenario safe" in printed


def test_time_that_is_left_goes_round_again_and_the_summary_says_how_much(heavy: Project) -> None:
    ended = heavy.gate()
    (line,) = re.findall("undecided: .*", ended.out)
    spent = re.search(r"tests/most.c under rc20: ([\d.]+) s of the budget of 6 s did not", line)
    assert spent is not None, line
    assert float(spent[1]) > 2.0  # its first share is 1 s
    assert "a budget of more than 6 s explores further" in line
    assert "explored before" not in ended.out
    assert "explored before" in heavy.gate().out


def test_what_takes_longer_to_compile_than_its_share_is_compiled_all_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 6 s, the first share of each of five scenarios is 0.4 s."""
    generated = Scenario.generated

    def slow(scenario: Scenario, seconds: float, reading: Deadline) -> Any:
        time.sleep(min(0.5, reading.left))
        if reading.passed:
            raise LimitReached("the time limit was reached")
        return generated(scenario, seconds, reading)

    for number in range(5):
        project.write(f"tests/light{number}.c", LIGHT)
    project.write("weakspot.toml", '[gate]\nscenarios = ["tests/light*.c"]\nbudget = "6s"\n')
    monkeypatch.setattr(Scenario, "generated", slow)
    assert "5 scenarios safe" in project.gate().printed(0)
