"""Loops that change memory and never end are hangs, where what they read cannot change any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from explored_programs import explored, kinds, program

from weakspot.harness.values.bounds import Bounds, Part

if TYPE_CHECKING:
    from pathlib import Path

SHARED = """
_Bool __VERIFIER_nondet_bool(void);
atomic_int x, y, z, stop;
pthread_mutex_t m;
void *looks(void *unused) { return (void *)(long)(LOAD(x) + LOAD(stop)); }
"""
# what a thread does, the threads beside it, what main does at the end
HANGS = {
    "a value is changed and changed back, one in each round": ("for (;;) STORE(x, !LOAD(x));", []),
    "the same, where another thread has looked": ("for (;;) STORE(x, !LOAD(x));", ["looks"]),
    "three values, one after the other": ("for (;;) STORE(x, (LOAD(x) + 1) % 3);", ["looks"]),
    "a local variable is a part of the state": (
        "for (int turn = 0;; turn = !turn) STORE(x, turn);",
        ["looks"],
    ),
    "a branch that is decided in the thread": (
        "int go = 1; while (go) STORE(x, !LOAD(x));",
        ["looks"],
    ),
    "within one round": ("for (;;) { STORE(x, 1); STORE(x, 2); }", ["looks"]),
    "until something that nobody does": (
        "while (!LOAD(stop)) { STORE(x, 1); STORE(x, 0); }",
        ["looks"],
    ),
    "an exchange that succeeds and is undone": (
        """int free = 0;
        for (; !LOAD(stop); STORE(x, 0)) {
          while (!atomic_compare_exchange_strong(&x, &free, 1)) free = 0;
        }""",
        ["looks"],
    ),
    "a lock is taken and released": (
        "for (;;) { pthread_mutex_lock(&m); STORE(x, !LOAD(x)); pthread_mutex_unlock(&m); }",
        ["looks"],
    ),
    "a server that nobody asks any more": (
        "for (;;) { if (LOAD(y)) STORE(y, 0); STORE(x, 1); STORE(x, 0); }",
        ["asks"],
    ),
    "nothing but a local variable changes": (
        "for (int turn = 0;; turn = !turn) { if (turn == 2) break; }",
        [],
    ),
    "two threads in loops that have nothing to do with each other": (
        "for (;;) STORE(x, !LOAD(x));",
        ["toggles_y"],
    ),
    "beside a thread that waits for ever for something else": (
        "for (;;) STORE(x, !LOAD(x));",
        ["waits_for_stop"],
    ),
}
OTHERS = """
void *asks(void *unused) { STORE(y, 1); return 0; }
void *toggles_y(void *unused) { for (;;) STORE(y, !LOAD(y)); }
void *toggles_x(void *unused) { for (;;) STORE(x, !LOAD(x)); }
void *waits_for_stop(void *unused) { while (!LOAD(stop)) {} return 0; }
void *stops(void *unused) { STORE(stop, 1); return 0; }
void *stops_late(void *unused) { while (!LOAD(y)) {} STORE(stop, 1); return 0; }
void *answers(void *unused) { for (;;) { while (LOAD(x) != 1) {} STORE(x, 0); } }
void *stops_holding(void *unused) {
  pthread_mutex_lock(&m); STORE(stop, 1); pthread_mutex_unlock(&m); return 0;
}
void *waits_for_two(void *unused) { while (LOAD(x) < 2) {} return 0; }
"""
ENDS = {
    "another thread stops it": ("while (!LOAD(stop)) { STORE(x, 1); STORE(x, 0); }", ["stops"]),
    "a thread that it lets continue stops it": (
        "while (!LOAD(stop)) { STORE(y, 1); STORE(y, 0); }",
        ["stops_late"],
    ),
    "it ends by itself": ("for (int i = 0; i < 3; i++) STORE(x, !LOAD(x));", ["looks"]),
}
UNKNOWN = {
    "the value never comes back": ("while (!LOAD(stop)) STORE(x, LOAD(x) + 1);", ["looks"]),
    "two threads hand a value back and forth": (
        "for (;;) { while (LOAD(x)) {} STORE(x, 1); }",
        ["answers"],
    ),
    "both change one location": ("for (;;) STORE(x, !LOAD(x));", ["toggles_x"]),
    "a thread waits for what the loop might show it": (
        "for (;;) { STORE(x, 1); STORE(x, 0); }",
        ["waits_for_two"],
    ),
    "a weak exchange fails for no reason": (
        """int free = 0;
        while (!atomic_compare_exchange_weak(&z, &free, 1)) { free = 0; STORE(x, !LOAD(x)); }""",
        ["looks"],
    ),
    "each round chooses": (
        "for (;;) { if (__VERIFIER_nondet_bool()) break; STORE(x, !LOAD(x)); }",
        ["looks"],
    ),
}
models = pytest.mark.parametrize("model", ["sc", "tso", "rc11", "rc20"])


def found(folder: Path, loop: str, others: list[str], model: str, **how: Part) -> tuple[str, str]:
    """The answer, and the kinds of violations."""
    text = f"{SHARED}{OTHERS}\nvoid *loop(void *unused) {{ {loop} return 0; }}\n"
    bounds = Bounds(loops=4)  # with more, none of those that are unknown is decided
    answer = explored(program(folder, text, "loop", *others), model, bounds=bounds, **how)
    return answer["result"], " ".join(kinds(answer))


@models
@pytest.mark.parametrize("case", HANGS)
def test_a_loop_that_only_comes_back_hangs(tmp_path: Path, case: str, model: str) -> None:
    assert found(tmp_path, *HANGS[case], model) == ("Violated", "hang")


@pytest.mark.parametrize("case", HANGS)
def test_the_reference_finds_these_hangs(tmp_path: Path, case: str) -> None:
    reference = Part(reference=True)
    assert found(tmp_path, *HANGS[case], "sc", part=reference) == ("Violated", "hang")


@models
@pytest.mark.parametrize("case", ENDS)
def test_a_loop_that_ends_does_not_hang(tmp_path: Path, case: str, model: str) -> None:
    answer = found(tmp_path, *ENDS[case], model)
    assert answer in [("Safe", ""), ("Unknown", "")]


# the loop's header is where the lock is held
LOCKS = """
for (int stopped = 0; !stopped; pthread_mutex_unlock(&m)) {
  pthread_mutex_lock(&m);
  for (int i = 0; i < 2; i++) stopped = LOAD(stop);
}
"""


@models
def test_who_waits_for_a_lock_gets_it_if_a_loop_releases_it_again_and_again(
    tmp_path: Path, model: str
) -> None:
    for part in (Part(audit=1), Part(reference=True)):
        assert found(tmp_path, LOCKS, ["stops_holding"], model, part=part)[1] == ""


@models
@pytest.mark.parametrize("case", UNKNOWN)
def test_a_loop_that_may_come_to_something_else_is_unknown(
    tmp_path: Path, case: str, model: str
) -> None:
    assert found(tmp_path, *UNKNOWN[case], model) == ("Unknown", "")


def test_what_runs_when_main_returns_does_not_hang(tmp_path: Path) -> None:
    text = f"""{SHARED}
    void *loop(void *unused) {{ for (;;) STORE(x, !LOAD(x)); }}
    int main(void) {{ pthread_t t; pthread_create(&t, 0, loop, 0); return LOAD(x); }}
    """
    assert "hang" not in kinds(explored(program(tmp_path, text), "rc20"))


def test_the_line_of_the_loop_is_named(tmp_path: Path) -> None:
    text = f"""{SHARED}
    void *loop(void *unused) {{
      for (;;)
        STORE(x, !LOAD(x));
    }}
    """
    checked = program(tmp_path, text, "loop", "looks")
    (violation,) = explored(checked, "sc")["violations"]
    assert violation["message"] == "thread 1 waits forever for its loop to end"
    assert violation["site"] is not None
    lines = (tmp_path / "program.c").read_text(encoding="utf-8").splitlines()
    assert "for (;;)" in lines[checked.sites[violation["site"]]["line"] - 1]
