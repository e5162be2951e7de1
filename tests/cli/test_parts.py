"""Parts of the executions of a program: estimated, bounded, drawn at random."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.campaign import progress
from weakspot.harness.campaign.pace import ExplorationPace
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds, Part
from weakspot.system.durations import duration_text

#: each thread reads what some thread has written, and adds; with 3 of them few executions
ADDERS = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sum, last;

static void *add(void *number) {
  (void)atomic_load_explicit(&last, memory_order_relaxed);
  atomic_fetch_add(&sum, 1);
  atomic_store_explicit(&last, 1 + (int)(long)number, memory_order_relaxed);
  return number;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long k = 0; k < THREADS; k++) pthread_create(&threads[k], 0, add, (void *)k);
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], 0);
  assert(sum == THREADS);
  return 0;
}
"""


@pytest.fixture
def adders(folder: Path) -> Path:
    path = folder / "adders.c"
    path.write_text(ADDERS)
    return path


def test_the_executions_of_a_small_program_are_counted(adders: Path, run: Run) -> None:
    ended = run("check", adders.name, "-m", "rc11", "-D", "THREADS=3", "--estimate")
    counted = json.loads(
        run("check", adders.name, "-m", "rc11", "-D", "THREADS=3", "--json").out.splitlines()[0]
    )
    assert ended.code == 0
    assert f"{counted['complete']:,} executions" in ended.out
    assert "±" not in ended.out


def test_the_executions_of_a_large_program_are_estimated(adders: Path, run: Run) -> None:
    few = ("-D", "THREADS=6", "--seconds", "2s", "--without", "symmetry")
    printed = run("check", adders.name, "-m", "rc11", *few, "--estimate").printed(0)
    assert re.search(r" [1-9][.\d]*·10\S+ executions ± \d+ %, \d+ ", printed), printed
    assert "±: standard error" in printed


def test_a_bound_is_an_answer_of_its_own_kind(
    adders: Path, run: Run, snapshot: SnapshotAssertion
) -> None:
    asked = (
        "check",
        adders.name,
        "-m",
        "rc11",
        "-D",
        "THREADS=3",
        "--without",
        "symmetry",
        "--bound",
    )
    assert steady(run(*asked, "1").printed(3)) == snapshot
    whole = run(*asked, "20")
    assert (whole.code, "Safe up to" in whole.out) == (0, False)


def test_a_violation_is_found_with_few_departures(folder: Path, run: Run) -> None:
    wrong = ADDERS.replace("assert(sum == THREADS)", "assert(last == THREADS)")
    (folder / "wrong.c").write_text(wrong)
    asked = ("check", "wrong.c", "-m", "rc11", "-D", "THREADS=4", "--without", "symmetry")
    ended = run(*asked, "--bound", "9", "--json")
    found = json.loads(ended.out.splitlines()[0])
    assert (ended.code, found["result"], found["departures"]) == (1, "Violated", 2)
    assert found["reasons"] == ["what takes more than 2 departures was not explored"]


def test_the_reference_says_that_it_answers(adders: Path, run: Run) -> None:
    asked = ("check", adders.name, "-m", "rc11", "-D", "THREADS=2", "--reference")
    ended = run(*asked)
    assert "explored by the reference, with no reduction" in ended.out
    found = json.loads(run(*asked, "--json").out.splitlines()[0])
    searched = json.loads(run(*asked[:-1], "--json").out.splitlines()[0])
    assert found["notes"] == ["explored by the reference, with no reduction"]
    assert (found["result"], found["represented"]) == (searched["result"], searched["represented"])
    ended = run(*asked, "--bound", "2")
    assert (ended.code, "--reference explores all executions" in ended.err) == (2, True)


def test_a_sample_is_repeatable_and_never_safe(adders: Path, run: Run) -> None:
    def sampled(seed: str, *more: str) -> tuple[int, dict[str, object]]:
        ended = run(
            *("check", adders.name, "-m", "rc11", "-D", "THREADS=3", "--sample", "30s"),
            "--without",
            "symmetry",
            *("--executions", "200", "--seed", seed, "--json", *more),
        )
        return ended.code, json.loads(ended.out.splitlines()[0])

    code, found = sampled("3")
    assert (code, found["result"], found["complete"]) == (3, "Unknown", 200)
    sample = found["sample"]
    assert isinstance(sample, dict)
    assert 0 < sample["distinct"] <= 102
    assert 0 < sample["known"] <= 1
    assert sampled("3")[1]["sample"] == sample
    assert sampled("4")[1]["sample"] != sample


@pytest.mark.parametrize("program", ["mp.c", "adders.c"])
def test_a_sample_ends_before_its_time_when_nothing_is_left_to_draw(
    adders: Path,  # noqa: ARG001
    run: Run,
    program: str,
) -> None:
    """mp.c is violated, and of adders.c with two threads all executions are drawn soon."""
    ended = run("check", program, "-m", "rc11", "-D", "THREADS=2", "--sample", "1h", "--json")
    sample = json.loads(ended.out.splitlines()[0])["sample"]
    assert 0 < sample["distinct"] <= sample["draws"] < 10_000
    assert program == "mp.c" or sample["known"] > 0.999_999


def test_a_sample_shows_violations_with_their_witness(run: Run) -> None:
    ended = run("check", "mp.c", "-m", "rc11", "--sample", "30s", "--executions", "100")
    assert ended.code == 1
    assert "Violated: assertion" in ended.out
    assert "needs at least release" in ended.out


@pytest.mark.parametrize(
    "wrong",
    [
        "--estimate --bound 2",
        "--bound 2 --sample 1s",
        "--seed 2",
        "--sample 1s --seconds 2s",
        "--sample 0",
        "--estimate --format herd",
    ],
)
def test_options_that_exclude_one_another_are_refused(run: Run, wrong: str) -> None:
    assert run("check", "mp.c", *wrong.split()).code == 2


def test_loops_are_explored_with_fewer_iterations_where_time_is_short(
    folder: Path, run: Run
) -> None:
    (folder / "often.c").write_text(
        """
        #include <pthread.h>
        #include <stdatomic.h>
        static atomic_int x, y;
        static void *add(void *p) {
          int now = atomic_load(&x);
          while (now < 100)
            if (atomic_compare_exchange_strong(&x, &now, now + 1)) now += atomic_load(&y);
          return p;
        }
        int main(void) {
          pthread_t t[4];
          for (int k = 0; k < 4; k++) pthread_create(&t[k], 0, add, 0);
          for (int k = 0; k < 4; k++) pthread_join(t[k], 0);
        }
        """
    )
    asked = ("check", "often.c", "-m", "sc", "--seconds", "2s", "--loops", "30", "--json")
    ended = run(*asked)
    found = json.loads(ended.out.splitlines()[0])
    assert (ended.code, found["result"]) == (3, "Unknown")
    assert 1 <= found["iterations"] < 30
    assert found["seconds"] < 3


def test_postponed_reads_are_sampled_and_bounded_too(adders: Path) -> None:
    from weakspot.generators.source.build import Build
    from weakspot.generators.source.program import read_program

    program = read_program(adders, build=Build(defines=("THREADS=2",)))
    model = models.resolve("imm")
    whole = asked(program, model, Bounds())
    within = asked(program, model, Bounds(), part=Part(departures=1))
    drawn = asked(program, model, Bounds(executions=300), part=Part(sample=True))
    assert (whole["result"], within["result"], drawn["result"]) == ("Safe", "Unknown", "Unknown")
    assert 1 < within["complete"] < whole["complete"]
    assert drawn["sample"] is not None
    assert drawn["sample"][1] <= whole["complete"]


def test_the_pace_says_what_is_left() -> None:
    shown: list[str] = []
    pace = ExplorationPace("mp.c under rc11", 70.0, shown.append)
    pace(12, None)
    assert shown == ["mp.c under rc11: 12 executions"]
    pace._begun -= 10  # ten seconds ago
    pace(1_000_000, (2e6, 2e5))
    pace(1_000_000, (1e9, 1e8))
    assert shown[1:] == [
        "mp.c under rc11: 1,000,000 executions, 10⁵ per second, "
        "about 2·10⁶ executions (standard error 10 %), 10 s left",
        "mp.c under rc11: 1,000,000 executions, 10⁵ per second, "
        "about 10⁹ executions (standard error 10 %), 3 h left, 1 min until the time limit",
    ]


def test_a_log_gets_a_line_every_half_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    log = progress.Log()
    for second in range(100):
        now = float(second)
        log.at(f"at {second} s")
    ended = capsys.readouterr()
    assert (ended.out, ended.err) == ("", "at 30 s\nat 60 s\nat 90 s\n")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.04 s"),
        (12, "12 s"),
        (100, "2 min"),
        (90_000, "25 h"),
        (200_000, "2 days"),
        (4e9, "127 years"),
    ],
)
def test_durations_have_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


WEAK = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, failures;
static void *one(void *unused) {
    int free = 0;
    while (!atomic_compare_exchange_weak(&x, &free, 1))
        atomic_fetch_add(&failures, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
    pthread_join(thread, 0);
    assert(failures < LEAST);
    return 0;
}
"""


def test_failures_of_a_weak_compare_exchange_are_explored_once_if_asked(
    tmp_path: Path, run: Run
) -> None:
    source = tmp_path / "weak.c"

    def found(least: int, *options: str) -> dict[str, Any]:
        source.write_text(WEAK.replace("LEAST", str(least)))
        command = ("check", str(source), "--model", "rc20", "--json", *options)
        answer: dict[str, Any] = json.loads(run(*command).out.splitlines()[0])
        return answer

    assert found(2)["result"] == "Violated"
    once = ("--weak-failures", "once")
    note = "weak compare-exchanges fail at most once per site and thread (--weak-failures once)"
    assert (found(2, *once)["result"], found(2, *once)["notes"]) == ("Safe", [note])
    assert found(1, *once)["result"] == "Violated"
    unknown = found(9, "--loops", "4")
    assert unknown["result"] == "Unknown"
    assert "check --weak-failures once leaves out further spurious failures" in unknown["reasons"]
