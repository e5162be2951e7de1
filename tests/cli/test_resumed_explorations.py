"""An exploration that reaches a limit, or is interrupted, resumes when it is asked for again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from samples import WEAKSPOT, Run

#: 1,834 executions under rc20; in some of them the assertion fails
TANGLED = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *first(void *none) {
  atomic_fetch_add(&x, 1);
  atomic_fetch_add(&y, 2);
  return none;
}
static void *second(void *none) {
  atomic_fetch_add(&y, 1);
  atomic_fetch_add(&x, 2);
  return none;
}
static void *third(void *none) {
  atomic_fetch_add(&x, 3);
  atomic_fetch_add(&y, 3);
  assert(atomic_fetch_add(&x, 3) != EXCLUDED);
  return none;
}
static void *(*const threads[])(void *) = {first, second, third, third};
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, threads[i], 0);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""


def longer(steps: int) -> str:
    """The program, safe, with so many steps more per thread: each makes it much longer."""
    more = "  atomic_fetch_add(&y, 1);\n" * steps
    text = TANGLED.replace("EXCLUDED", "1000")
    return text.replace("  return none;", f"{more}  return none;")


TEST = ("test", "tangled.c", "-m", "rc20", "--for", "0", "--checker", "engine")
MEASURED = ("seconds", "resumed", "notes", "evidence")


@pytest.fixture
def project(folder: Path) -> Path:
    """A program that has too many executions for the limit of the gate."""
    (folder / "tangled.c").write_text(TANGLED.replace("EXCLUDED", "9"))
    limit(folder, "executions = 100")
    return folder


def limit(folder: Path, line: str) -> None:
    """Configure the gate with this limit."""
    (folder / "weakspot.toml").write_text(
        f'models = ["rc20"]\nmachine_models = []\n[gate]\nscenarios = ["tangled.c"]\n{line}\n'
    )


def campaign(folder: Path) -> dict[str, Any]:
    """The exploration of the newest campaign."""
    newest = max((folder / "results").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    (line,) = (newest / "explorations.jsonl").read_text().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def answer(folder: Path) -> dict[str, Any]:
    """What the gate has stored of the exploration last."""
    stored: dict[int, dict[str, Any]] = {}
    for path in (folder / ".weakspot" / "answers").glob("*.json"):
        exploration = json.loads(path.read_text()).get("exploration")
        if exploration and exploration["model"] == "rc20":
            stored[path.stat().st_mtime_ns] = exploration
    return stored[max(stored)]


def compared(exploration: dict[str, Any]) -> dict[str, Any]:
    """An exploration without what differs between one that was resumed and one that was not."""
    return {name: value for name, value in exploration.items() if name not in (*MEASURED, "key")}


def frontiers(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.frontier"))


@pytest.mark.parametrize("excluded", ["9", "1000"])  # one that is read, and one that is not
def test_the_gate_resumes_an_exploration_that_reached_its_limit(
    project: Path, run: Run, excluded: str
) -> None:
    (project / "tangled.c").write_text(TANGLED.replace("EXCLUDED", excluded))
    ended = run("gate", "--no-cache")
    assert frontiers(project) == [], ended.err
    first = run("gate")
    assert frontiers(project), first.err
    before = answer(project)
    limit(project, "executions = 700")
    second = run("gate")
    explored = sum(before.get(each, 0) for each in ("complete", "blocked", "truncated", "faulty"))
    assert f"resumed: {explored} executions explored before" in second.out
    limit(project, "executions = 0")
    last = run("gate")
    assert last.code == (1 if excluded == "9" else 0), last.out
    assert "executions explored before" in last.out
    assert frontiers(project) == []
    resumed = answer(project)
    for path in (project / ".weakspot").rglob("*.json"):
        path.unlink()
    whole = run("gate")
    assert whole.code == last.code
    assert compared(answer(project)) == compared(resumed)
    assert "explored before" not in whole.out


def test_a_campaign_resumes_an_exploration_of_an_earlier_one(project: Path, run: Run) -> None:
    run(*TEST, "--executions", "100")
    before = campaign(project)
    run(*TEST, "--executions", "700")
    then = campaign(project)
    assert then["resumed"] == before["complete"] + before["faulty"]
    last = run(*TEST)
    assert "tangled.c/tangled under rc20: resumed: " in last.out
    resumed = campaign(project)
    assert resumed["resumed"] == then["complete"] + then["faulty"]
    fresh = run(*TEST, "--fresh")
    assert "explored before" not in fresh.out
    whole = campaign(project)
    assert "resumed" not in whole or whole["resumed"] == 0
    assert compared(whole) == compared(resumed)


def test_a_changed_source_starts_anew(project: Path, run: Run) -> None:
    run("gate")
    run(*TEST, "--executions", "100")
    (project / "tangled.c").write_text(TANGLED.replace("EXCLUDED", "10"))
    limit(project, "executions = 200")
    assert "explored before" not in run("gate").out
    assert "explored before" not in run(*TEST, "--executions", "200").out


def test_another_model_or_bound_starts_anew(project: Path, run: Run) -> None:
    run("gate")
    limit(project, "executions = 200\nunroll = 7")
    assert "explored before" not in run("gate").out
    file = project / "weakspot.toml"
    file.write_text(file.read_text().replace("rc20", "rc11"))
    assert "explored before" not in run("gate").out


def test_a_torn_file_costs_what_it_would_have_saved(project: Path, run: Run) -> None:
    run("gate")
    for path in frontiers(project):
        path.write_bytes(path.read_bytes()[:-7])
    limit(project, "executions = 0")
    ended = run("gate")
    assert ended.code == 1
    assert "what was stored to resume the exploration is damaged; it started anew" in ended.out
    assert (ended.err, frontiers(project)) == ("", [])


def test_a_limit_of_time_resumes_too(project: Path, run: Run) -> None:
    (project / "tangled.c").write_text(longer(1))
    for seconds in range(1, 60):
        ended = run(*TEST, "--seconds", f"{0.1 * seconds}")
        if "not fully explored" not in ended.out:
            break
    resumed = campaign(project)
    assert resumed["result"] == "Safe"
    assert resumed["resumed"] > 0
    run(*TEST, "--fresh", "--seconds", "1m")
    assert compared(campaign(project)) == compared(resumed)


def stopped(folder: Path, number: int, after: float) -> None:
    """The gate, which gets a signal after so many seconds."""
    with subprocess.Popen(
        [WEAKSPOT, "gate"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        time.sleep(after)
        os.killpg(child.pid, number)
        child.wait(timeout=30)
        assert child.returncode != 0


def test_an_interruption_leaves_what_a_kill_does_not_change(project: Path, run: Run) -> None:
    (project / "tangled.c").write_text(longer(3))
    limit(project, 'budget = "5m"')
    for seconds in (1.5, 3.0, 6.0, 12.0):  # how long compiling takes depends on the machine
        stopped(project, signal.SIGINT, seconds)
        if frontiers(project):
            break
    (path,) = frontiers(project)
    content = path.read_bytes()
    stopped(project, signal.SIGKILL, 1.5)
    assert path.read_bytes() == content
    limit(project, 'budget = "1s"')
    assert "executions explored before" in run("gate").printed(3)
