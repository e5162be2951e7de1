"""The table [explore] of weakspot.toml is what every command explores by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import WIDE, Run

LOOP = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *count(void *none) {
  for (int i = 0; i < 5; i++) atomic_store(&x, i);
  return none;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, count, 0);
  int rounds = 0;
  while (rounds < 6 && atomic_load(&x) < 4) rounds++;
  pthread_join(t, 0);
  assert(rounds < 7);
}
"""


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / "wide.c").write_text(WIDE)
    (folder / "loop.c").write_text(LOOP)
    return folder


def configure(folder: Path, text: str) -> None:
    (folder / "weakspot.toml").write_text(
        f'models = ["rc20"]\nmachine_models = []\n{text}\n'
        '[gate]\nscenarios = ["wide.c"]\nbudget = "1s"\n'
    )


def explored(run: Run, *arguments: str) -> dict[str, Any]:
    """The one exploration that `check` prints."""
    ended = run("check", "--json", *arguments)
    found: dict[str, Any] = json.loads(ended.out.splitlines()[0])
    return found


def test_a_bound_is_explored_where_time_does_not_suffice(project: Path, run: Run) -> None:
    configure(project, '[explore]\nseconds = "300ms"\nbound = 1')
    found = explored(run, "wide.c")
    assert (found["result"], found["departures"]) == ("Unknown", 1)
    assert found["reasons"][0] == "what takes more than 1 departure was not explored"
    assert found["reasons"][1] == "time limit of 0.3 s"
    checked = run("check", "wide.c")
    assert (checked.code, "Safe up to 1 departure" in checked.out) == (3, True)
    tested = run("test", "wide.c", "--for", "0", "--checker", "engine")
    assert tested.code == 3
    assert "what takes more than 1 departure was not explored" in tested.out
    first = run("gate")
    assert first.code == 3
    assert "what takes more than 1 departure was not explored" in first.out
    again = run("gate")
    assert "unchanged" not in again.out, "there was not time enough"
    assert "executions explored before" in again.out


def test_a_sample_is_drawn_where_time_does_not_suffice(project: Path, run: Run) -> None:
    configure(project, '[explore]\nseconds = "300ms"\nsample = true')
    found = explored(run, "wide.c")
    assert found["result"] == "Unknown"
    assert found["sample"]["draws"] > 0
    assert "executions drawn with seed 1" in run("gate").printed(3)


def test_a_violation_that_the_search_reaches_too_late_is_found(project: Path, run: Run) -> None:
    (project / "wide.c").write_text(WIDE.replace("place[0] < 4", "place[0] > 0"))
    # a second worker would begin with the choices that one changes last
    few = ("--executions", "200", "-m", "rc20", "-j", "1")
    assert explored(run, "wide.c", *few)["result"] == "Unknown"
    for line in ("bound = 2", ""):
        configure(project, f'[explore]\nseconds = "1s"\n{line}')
        assert explored(run, "wide.c", "-j", "1")["result"] == "Violated"


def test_where_time_suffices_everything_is_explored(project: Path, run: Run) -> None:
    for line in ("bound = 0", "sample = true"):
        configure(project, f"[explore]\n{line}")
        found = explored(run, "mp.c")
        assert found["result"] == "Violated"
        assert (found.get("departures"), found.get("sample")) == (None, None)
        assert explored(run, "loop.c", "--loops", "8")["result"] == "Safe"


def test_an_option_replaces_the_configuration(project: Path, run: Run) -> None:
    configure(project, '[explore]\nseconds = "300ms"\nbound = 3')
    found = explored(run, "wide.c", "--bound", "1")
    assert (found["departures"], found["complete"] < 10_000) == (1, True)
    assert explored(run, "wide.c", "--sample", "300ms")["sample"]["draws"] > 0
    configure(project, '[explore]\nseconds = "1m"\nloops = 1')
    assert "time limit of 0.3 s" in explored(run, "wide.c", "--seconds", "300ms")["reasons"]
    assert explored(run, "loop.c")["result"] == "Unknown"
    assert explored(run, "loop.c", "--loops", "8")["result"] == "Safe"


def test_the_reference_explores_everything_whatever_is_configured(project: Path, run: Run) -> None:
    configure(project, '[explore]\nseconds = "300ms"\nbound = 3')
    found = explored(run, "wide.c", "--reference")
    assert "time limit of 0.3 s" in found["reasons"]
    assert "departures" not in found or found["departures"] is None
    with_number = run("check", "wide.c", "--loops", "99999999999")
    assert with_number.code == 2
    assert "loops is 99999999999; it must be from 0 to" in with_number.err


def test_the_gate_has_loops_of_its_own(project: Path, run: Run) -> None:
    for table, code in (("", 3), ("unroll = 8", 0)):
        configure(project, "[explore]\nloops = 1")
        file = project / "weakspot.toml"
        file.write_text(file.read_text().replace("wide.c", "loop.c") + f"{table}\n")
        assert run("gate").code == code


@pytest.mark.parametrize("command", ["check", "test", "relax"])
def test_a_wrong_value_is_reported_with_its_place(project: Path, run: Run, command: str) -> None:
    configure(project, '[explore]\nseconds = "soon"')
    errors = run(command, "mp.c").reported(2)
    assert "seconds: 'soon' is not a duration" in errors
    assert "weakspot.toml:4" in errors
