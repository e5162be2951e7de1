"""Ctrl-C, as the terminal sends it: what was counted or decided is printed, and nothing else."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import wait_until_gone
from samples import WEAKSPOT, WIDE

from weakspot.system.tools import Tool

LIMITS = ("--seconds", "5m", "--executions", "1000000000")


def interrupted(folder: Path, *command: str, after: float) -> tuple[str, str]:
    """What the command prints that gets SIGINT after so many seconds; it ends with 130 at once."""
    with subprocess.Popen(
        [WEAKSPOT, *command],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        time.sleep(after)
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=30)
        assert child.returncode == 130, (out, err)
    assert "Traceback" not in out + err
    assert "interrupted" in err
    wait_until_gone(child.pid)
    return out, err


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (("check", "mp.c", "wide.c", "-m", "rc20", *LIMITS), "wide.c/wide under rc20: interrupted"),
        (("gate", "mp.c", "wide.c"), "mp.c under rc20: Violated"),
        (("run", "SB.litmus", "--for", "14s"), "ended early: interrupted"),  # control tests: 2 s
        (("run", "mp.c", "--only", "programs", "--for", "60s"), "ended early: interrupted"),
        (("cost", "mp.c", "--for", "60s"), "one run of mp.c"),
        (("relax", "mp.c", "wide.c", *LIMITS), ""),
        (("test", "wide.c", "--for", "0", "-o", "one", *LIMITS), ""),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_ctrl_c_prints_what_was_counted(
    folder: Path, command: tuple[str, ...], printed: str
) -> None:
    (folder / "wide.c").write_text(WIDE)
    if command[0] in ("check", "gate", "relax", "test"):
        (folder / "weakspot.toml").write_text(
            '[gate]\nscenarios = ["*.c"]\nbudget = "5m"\nexecutions = 1000000000\n'
        )
    for seconds in (1.5, 3.0, 6.0, 12.0):  # how long compiling takes depends on the machine
        out, err = interrupted(folder, *command, after=seconds)
        if printed in out:
            return
    pytest.fail(f"{printed!r} is not in {out!r}; {err!r}")


@pytest.mark.parametrize("seconds", [1.0, 3.0, 5.0, 8.0])
def test_ctrl_c_while_clients_are_relaxed_promises_no_results_that_are_not_there(
    folder: Path, seconds: float
) -> None:
    (folder / "counter.c").write_text(
        "#include <stdatomic.h>\nstatic atomic_long count;\n"
        "void increment(void) { atomic_fetch_add(&count, 1); }\n"
        "long get(void) { return atomic_load(&count); }\n"
    )
    options = ("--as", "counter", "--client-calls", "6", "--threads", "3")
    out, err = interrupted(folder, "relax", "counter.c", *options, after=seconds)
    assert bool(out) is ("far" in err), (out, err)
    assert "in 0 clients" not in out


def test_ctrl_c_prints_the_rounds_of_litmus7_that_have_ended(
    need: Callable[[str], Tool], folder: Path
) -> None:
    for tool in ("litmus7", "gcc", "make"):
        need(tool)
    command = ("run", "SB.litmus", "--runner", "litmus7", "--for", "60s")
    for seconds in (6.0, 12.0):  # how long compiling takes depends on the machine
        out, err = interrupted(folder, *command, after=seconds)
        if found := re.search(r"in (.+) iterations", out):
            assert found[1] != "0"
            assert "ended early: interrupted" in out
            return
    pytest.fail(f"no round has ended: {out!r}; {err!r}")


IN_DESTRUCTOR = """
import os, signal, sys, time
import click
from weakspot.harness.cli.errors import guarded

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

@click.command()
def waits():
    Last()
    time.sleep(20)

sys.exit(guarded(waits, []))
"""


def test_ctrl_c_in_a_destructor_is_not_lost() -> None:
    found = subprocess.run(
        [sys.executable, "-c", IN_DESTRUCTOR], capture_output=True, text=True, timeout=15
    )
    assert (found.returncode, found.stderr) == (130, "interrupted\n")
