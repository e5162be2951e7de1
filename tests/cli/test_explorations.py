"""Whole programs on the command line: what goes wrong, under which model, in which lines, as which
litmus test, and what a limit left open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weakspot.harness.checkers.engine import Engine
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded

#: a loop that a shared value ends, which no bound decides: the other thread may always be faster
ENDLESS = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turns, stop;

static void *count(void *unused) {
  while (!atomic_load(&stop))
    atomic_fetch_add(&turns, 1);
  return unused;
}

int main(void) {
  pthread_t counter;
  pthread_create(&counter, 0, count, 0);
  atomic_store(&stop, 1);
  pthread_join(counter, 0);
  return 0;
}
"""

#: two threads that each want both locks
DEADLOCK = """\
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *up(void *unused) {
  pthread_mutex_lock(&one);
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&one);
  return unused;
}

static void *down(void *unused) {
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&one);
  pthread_mutex_unlock(&one);
  pthread_mutex_unlock(&other);
  return unused;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, up, 0);
  pthread_create(&second, 0, down, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return 0;
}
"""


def test_explorations_are_one_object_a_line_and_name_the_test_of_their_cycle(run) -> None:
    ended = run("check", "mp.c", "-m", "sc,rc11", "--json")
    values = [json.loads(line) for line in ended.out.splitlines()]
    explored = {value["model"]: value for value in values if "program" in value}
    assert explored["sc"]["result"] == "Safe"
    assert explored["sc"]["complete"] > 0
    assert explored["rc11"]["result"] == "Violated"
    (violation,) = explored["rc11"]["violations"]
    assert violation["kind"] == "assertion"
    assert violation["sites"] == ["mp.c:15"]
    assert violation["test"] in {value["test"] for value in values if "test" in value}


def test_the_test_of_a_violation_is_written_and_allowed(run, folder: Path) -> None:
    assert run("check", "mp.c", "-m", "rc11", "-o", "tests").code == 1
    (path,) = (folder / "tests").iterdir()
    assert path.name == "MP+porlxrlx+poacqrlx.litmus"
    ended = run("check", f"tests/{path.name}", "-m", "sc,rc11", "--json")
    values = [json.loads(line) for line in ended.out.splitlines()]
    observations = {value["model"]: value["observation"] for value in values}
    assert observations == {"sc": "Never", "rc11": "Sometimes"}


def test_an_interrupted_check_writes_the_tests_of_its_violations(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Engine, "check", interrupted)
    assert guarded(weakspot, ["check", "mp.c", "-m", "rc11", "-o", "tests"]) == 130
    assert list((folder / "tests").glob("MP*.litmus"))


def test_a_loop_that_reaches_its_bound_is_inconclusive_with_advice(run, folder: Path) -> None:
    (folder / "endless.c").write_text(ENDLESS)
    ended = run("check", "endless.c", "-m", "sc")
    assert ended.code == 3
    assert "endless.c/endless  Unknown" in ended.out
    assert "more than 4 times at endless.c:8" in ended.out
    assert "--loops 8 explores further" in ended.out
    assert "--loops 4 explores further" in run("check", "endless.c", "-m", "sc", "--loops", "2").out


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (
            "for (int i = 0; i < 5000; i++) atomic_store(&stop, i);",
            "more than 4096 events in one execution at busy.c:8",
        ),
        (
            "for (volatile int i = 0; i < 1000000; i++) {}",
            "more than 2000000 instructions in one thread at busy.c:8",
        ),
        ("count(unused);", "more than 200 nested calls at busy.c:8"),
    ],
)
def test_a_limit_without_an_option_is_located_and_comes_with_advice(
    run, folder: Path, work: str, message: str
) -> None:
    loop = ENDLESS[ENDLESS.index("  while") : ENDLESS.index("  return unused")]
    (folder / "busy.c").write_text(ENDLESS.replace(loop, f"  {work}\n"))
    ended = run("check", "busy.c", "-m", "sc")
    assert ended.code == 3, ended.out
    assert message in ended.out
    assert "have the threads of the program do less" in ended.out
    assert "--loops" not in ended.out


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--executions=1", "limit of 1 executions; --executions 2 explores further"),
        ("--seconds=10ms", "time limit of 0.01 s; --seconds 0.02 explores further"),
    ],
)
def test_a_limit_is_inconclusive_and_named(run, folder: Path, option: str, message: str) -> None:
    (folder / "many.c").write_text(
        ENDLESS.replace("while (!atomic_load(&stop))", "for (int i = 0; i < 9; i++)").replace(
            "atomic_store(&stop, 1)", "for (int i = 0; i < 9; i++) atomic_fetch_add(&turns, 1)"
        )
    )
    ended = run("check", "many.c", "-m", "sc", option)
    assert ended.code == 3
    assert "Unknown" in ended.out
    assert message in ended.out


def test_threads_that_wait_for_one_another_are_a_hang(run, folder: Path) -> None:
    (folder / "deadlock.c").write_text(DEADLOCK)
    ended = run("check", "deadlock.c", "-m", "sc")
    assert ended.code == 1
    assert "WS103" in ended.out
    assert "deadlock.c:7" in ended.out
    assert "deadlock.c:15" in ended.out


def test_a_model_that_no_checker_explores_under_is_reported(run) -> None:
    ended = run("check", "mp.c", "-m", "c20")
    assert "skipped 1 exploration: programs are not explored under c20" in ended.out
    assert "MP+porlxrlx+poacqrlx" in ended.out


def test_a_campaign_keeps_explorations_and_links_them_with_their_tests(run, folder: Path) -> None:
    ended = run("test", "mp.c", "--for", "0", "-c", "engine", "-o", "one")
    assert ended.code == 1
    assert "1 under sc tso rc11: 2 safe, 1 violated" in ended.out
    lines = (folder / "one" / "explorations.jsonl").read_text().splitlines()
    assert [json.loads(line)["model"] for line in lines] == ["sc", "tso", "rc11"]
    page = (folder / "one" / "report" / "programs" / "mp.c_mp.html").read_text()
    assert "../tests/MP%2Bporlxrlx%2Bpoacqrlx.html" in page
    test = (folder / "one" / "report" / "tests" / "MP+porlxrlx+poacqrlx.html").read_text()
    assert "../programs/mp.c_mp.html" in test
    again = run("test", "mp.c", "--for", "0", "-c", "engine", "-o", "one")
    assert again.code == 1
    assert (folder / "one" / "explorations.jsonl").read_text().splitlines() == lines


def test_claims_are_listed_with_who_decided_them(run) -> None:
    none = run("structures", "store_buffering", "--claims")
    assert none.code == 0
    assert "not decided" in none.out
    assert "there is no campaign yet; run `weakspot test all`" in none.out
    decide = ("test", "store_buffering", "--for", "0", "-c", "engine", "-o", "results/one")
    assert run(*decide).code == 0
    printed = run("structures", "store_buffering", "--claims").out
    assert "exploration" in printed
    assert "engine" in printed
    assert "in results/one" in printed
    lines = run("structures", "store_buffering", "--claims", "--json").out.splitlines()
    values = [json.loads(line) for line in lines]
    assert {"structure", "under", "recorded", "found", "fits", "by"} <= set(values[0])
    assert all(value["fits"] for value in values if value["by"])


@pytest.mark.parametrize(
    "axiom", ["acyclic po | rf | co | fr as sc", "acyclic po-loc | rf | co | fr"]
)
def test_a_cat_file_of_the_users_decides_programs_if_it_shows_that_it_can(
    run, folder: Path, axiom: str
) -> None:
    (folder / "deadlock.c").write_text(DEADLOCK)
    (folder / "mine.cat").write_text(f'"mine"\ninclude "cos.cat"\n{axiom}\n')
    ended = run("check", "deadlock.c", "-m", "mine.cat")
    if axiom.endswith("sc"):
        assert ended.code == 1
        assert "WS103" in ended.out
    else:
        assert "may allow executions in which po | rf has a cycle" in ended.out + ended.err
