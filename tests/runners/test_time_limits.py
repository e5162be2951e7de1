"""A command that is given a time ends in it, with what it has: a second more for each question, and
what starting a command takes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded

#: more interleavings, critical cycles and executions than can be enumerated
WIDE = """\
#include <pthread.h>
#include <stdatomic.h>
#define N 40
#define ADD(i) atomic_fetch_add_explicit(&x[(i) % N], 1, memory_order_relaxed)
#define GET(i) atomic_load_explicit(&x[(i) % N], memory_order_relaxed)

static atomic_int x[N];

static void *up(void *p) { for (int i = 0; i < N; i++) ADD(i), GET(i + 5); return p; }
static void *down(void *p) { for (int i = N; i-- > 0;) ADD(i), GET(i + 3); return p; }
static void *leap(void *p) { for (int i = 0; i < N; i++) ADD(5 * i), GET(i); return p; }

int main(void) {
  void *(*run[])(void *) = {up, down, leap};
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run[i], 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}
"""

#: executions that take long, each of them
LONG = """\
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *write(void *p) { for (int i = 0; i < 1500; i++) atomic_store(&x, i); return p; }

static void *sum(void *p) {
  int total = 0;
  for (int i = 0; i < 1500; i++) total += atomic_load(&x);
  atomic_store(&y, total);
  return p;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, write, 0);
  pthread_create(&t[1], 0, sum, 0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  return 0;
}
"""

#: a violation whose execution is long, so that explaining it takes long
FOUND = LONG.replace("  return 0;", "  if (y == 1499 * 1500 / 2) __builtin_trap();\n  return 0;")

PROGRAMS = pytest.mark.parametrize("text", [WIDE, LONG, FOUND], ids=["wide", "long", "found"])


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


@PROGRAMS
def test_check_ends_in_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("much.c").write_text(text)
    with at_most(2 * (1 + 1) + 2):
        code = guarded(weakspot, ["check", "much.c", "-m", "rc11", "--tests", "--seconds", "1s"])
    printed = " ".join(capsys.readouterr().out.split())
    assert code in (1, 3)
    assert re.search(r"time limit of 1 s; .*--seconds 2 explores further", printed)
    assert "the time limit was reached while its litmus tests were generated" in printed


@PROGRAMS
def test_the_gate_ends_within_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("much.c").write_text(text)
    Path("weakspot.toml").write_text('[gate]\nscenarios = ["much.c"]\nbudget = "2s"\n')
    with at_most(2 + 3 + 2):
        code = guarded(weakspot, ["gate", "--no-cache"])
    assert code in (1, 3)
    assert "a budget of more than" in " ".join(capsys.readouterr().out.split())


#: with fewer shapes, so that a few tests are run
TWO = WIDE.replace("up, down, leap", "up, down").replace("t[3]", "t[2]").replace("i < 3", "i < 2")
PROGRAMS_TO_RUN = pytest.mark.parametrize("text", [TWO, LONG], ids=["wide", "long"])


@pytest.mark.alone
@PROGRAMS_TO_RUN
@pytest.mark.usefixtures("empty_cache")
def test_run_takes_a_second_more_per_test_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("much.c").write_text(text)
    begun = time.monotonic()
    code = guarded(weakspot, ["run", "much.c", "--for", "200ms", "--json"])
    spent = time.monotonic() - begun
    jobs = len(capsys.readouterr().out.splitlines())
    assert code == 3
    assert spent < jobs * (0.2 + 1) + 0.2 + 2


@pytest.mark.usefixtures("empty_cache")
def test_run_says_that_tests_were_not_generated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("much.c").write_text(LONG)
    with at_most(2 * (1 + 1) + 2):
        code = guarded(weakspot, ["run", "much.c", "--for", "1s"])
    printed = " ".join(capsys.readouterr().out.split())
    assert code == 3
    assert "the time limit was reached while its litmus tests were generated" in printed


@pytest.mark.alone
@pytest.mark.usefixtures("empty_cache")
def test_cost_takes_a_second_more_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with at_most(1 + 1 + 5):  # imports take a second or two
        code = guarded(weakspot, ["cost", "duffy_wsq", "--for", "1s"])
    assert code == 3
    # of nine programs, or of one that is measured
    assert "the time limit was reached while" in " ".join("".join(capsys.readouterr()).split())
