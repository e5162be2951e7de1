"""How far loops are followed where the user does not say it: further, as long as that is the only
limit that was reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import Run

from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import Course, asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds

SUM = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *set(void *p) { atomic_store(&x, 1); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, set, 0);
  int sum = 0;
  while (sum < LEAST) sum += atomic_load(&x);
  assert(sum != WRONG);
  pthread_join(t, 0);
}
"""
"""Its loop has LEAST iterations in which x is 1; others only wait."""

ENDLESS = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, z;
static void *add(void *p) {
  while (!atomic_load(&y)) { atomic_fetch_add(&x, 1); atomic_store(&z, 1); }
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int k = 0; k < 2; k++) pthread_create(&t[k], 0, add, 0);
  while (atomic_load(&x) < 2) ;
  atomic_store(&y, 1);
  for (int k = 0; k < 2; k++) pthread_join(t[k], 0);
}
"""


def summing(folder: Path, least: int, wrong: int = -1) -> Path:
    path = folder / "sum.c"
    path.write_text(SUM.replace("LEAST", str(least)).replace("WRONG", str(wrong)))
    return path


@pytest.mark.parametrize(
    ("least", "options", "result", "loops"),
    [
        (4, (), "Safe", None),
        (6, (), "Safe", 8),
        (34, (), "Safe", 64),
        (66, (), "Unknown", 64),
        (66, ("--loops", "65"), "Safe", None),
        (6, ("--loops", "4"), "Unknown", None),
        (34, ("--executions", "3"), "Unknown", 16),
    ],
)
def test_loops_are_followed_as_far_as_they_have_iterations(
    tmp_path: Path, run: Run, least: int, options: tuple[str, ...], result: str, loops: int | None
) -> None:
    path = summing(tmp_path, least)
    found = json.loads(run("check", str(path), "-m", "rc20", "--json", *options).out)
    assert (found["result"], found["loops"]) == (result, loops)


def test_a_violation_of_many_iterations_is_found(tmp_path: Path, run: Run) -> None:
    path = summing(tmp_path, 10, wrong=10)
    found = json.loads(run("check", str(path), "-m", "rc20", "--json").out.splitlines()[0])
    assert (found["result"], found["loops"]) == ("Violated", 16)


def test_every_command_follows_them(folder: Path, run: Run) -> None:
    path = summing(folder, 10)
    models_, scenarios = 'models = ["rc20"]\n', '[gate]\nscenarios = ["sum.c"]\n'
    (folder / "weakspot.toml").write_text(f"{models_}{scenarios}")
    note = "loops were followed for up to 16 iterations"
    assert note in run("check", str(path)).out
    gate = run("gate")
    assert gate.code == 0
    assert note in gate.out
    assert run("relax", str(path), "-m", "rc20").code != 3
    assert run("mutate", str(path), "-m", "rc20").code != 3
    # an answer within a bound that the user gives is another one
    (folder / "weakspot.toml").write_text(f"{models_}{scenarios}unroll = 4\n")
    bounded = run("gate")
    assert bounded.code == 3
    assert "unroll = 8 explores further" in bounded.out


def test_an_exploration_within_a_higher_bound_resumes(tmp_path: Path) -> None:
    program = read_program(summing(tmp_path, 34))
    model = models.resolve("rc20")
    left: list[bytes] = []
    results: list[tuple[str, int]] = []
    while not results or left:
        earlier = left.pop() if left else None
        found = asked(program, model, Bounds(executions=3), Course(None, earlier, left.append))
        results.append((found["result"], found["loop_bound"]))
    # each has one execution
    assert results == [("Unknown", 16), ("Unknown", 64), ("Safe", 64)]


def test_loops_that_do_not_end_take_no_more_than_the_time(tmp_path: Path) -> None:
    path = tmp_path / "endless.c"
    path.write_text(ENDLESS)
    program = read_program(path)
    found = asked(program, models.resolve("rc20"), Bounds(seconds=3.0))
    assert found["result"] == "Unknown"
    assert found["rounds"] or found["doubled"]
    assert found["seconds"] < 4
