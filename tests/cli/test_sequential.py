"""A program that starts no thread, and one whose main does not wait, are reported as such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import Run

ALONE = """\
#include <stdatomic.h>
atomic_int x;
int main(void) { atomic_store(&x, 1); return 0; }
"""
LEFT = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static void *set(void *p) { atomic_store(&x, 1); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, set, 0);
  return 0;
}
"""
NOTE = "starts no thread: nothing in it depends on a memory order"


@pytest.mark.parametrize("command", ["check", "gate", "relax"])
def test_a_program_that_starts_no_thread_is_reported_as_such(
    run: Run, folder: Path, command: str
) -> None:
    (folder / "alone.c").write_text(ALONE)
    ended = run(command, "alone.c")
    assert NOTE in ended.out
    assert NOTE not in run(command, "mp.c").out


@pytest.mark.parametrize("command", ["check", "gate", "relax"])
def test_a_program_that_fails_before_its_threads_start_is_not(
    run: Run, folder: Path, command: str
) -> None:
    early = "#include <assert.h>\n" + LEFT.replace(
        "  pthread_create", "  assert(atomic_load(&x));\n  pthread_create"
    )
    (folder / "early.c").write_text(early)
    assert NOTE not in run(command, "early.c").printed(1)


def test_json_counts_the_threads(run: Run, folder: Path) -> None:
    (folder / "alone.c").write_text(ALONE)
    lines = map(json.loads, run("check", "alone.c", "--json").out.splitlines())
    assert [each["threads"] for each in lines if "program" in each] == [0, 0, 0]
    (relaxed, *_) = map(json.loads, run("relax", "alone.c", "--json").out.splitlines())
    assert relaxed["sequential"] == ["alone.c"]


def test_main_that_does_not_wait_is_a_warning(run: Run, folder: Path) -> None:
    (folder / "left.c").write_text(LEFT)
    printed = run("check", "left.c").printed(0)
    assert printed.count("WS106") == 1
    assert "left.c:7" in printed
    values = map(json.loads, run("check", "left.c", "--json").out.splitlines())
    explored = [each for each in values if "program" in each]
    assert {each["result"] for each in explored} == {"Safe"}
    assert {each["warnings"][0]["kind"] for each in explored} == {"unjoined"}


def test_main_that_does_not_wait_fails_the_gate_only_if_asked(run: Run, folder: Path) -> None:
    (folder / "left.c").write_text(LEFT)
    warned = run("gate", "left.c")
    assert (warned.code, warned.out.count("WS106")) == (0, 1)
    configuration = '[gate]\nscenarios = ["left.c"]\nfail_on = ["error", "WS106"]\n'
    (folder / "weakspot.toml").write_text(configuration)
    assert run("gate").code == 1
