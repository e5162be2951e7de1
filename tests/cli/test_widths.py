"""Terminals of 60, 80 and 200 columns: nothing is wider. A pipe is not wrapped."""

from __future__ import annotations

import os
import re
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import WEAKSPOT, Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

if sys.platform != "linux":
    pytest.skip("terminals of other systems are opened differently", allow_module_level=True)

WIDTHS = (60, 80, 200)

Shown = Callable[..., str]


@pytest.fixture
def shown(folder: Path) -> Shown:
    """`shown(80, "check", "mp.c")`: what a terminal of that width shows, without colours."""
    import fcntl
    import pty
    import termios

    def shows(width: int, *arguments: str) -> str:
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            given = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
            given.pop("COLUMNS", None)
            os.execve(WEAKSPOT, [str(WEAKSPOT), *arguments], given)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        output = b""
        try:
            while data := os.read(terminal, 65536):
                output += data
        except OSError:  # the program has closed it
            pass
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode())
        # what a bar overwrites is not seen
        return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))

    return shows


COMMANDS = [
    ("check", "SB.litmus", "--witness"),
    ("relax", "mp.c", "--witness"),
    ("test", "mp.c", "--for", "0", "-c", "engine", "-o", "one"),
    ("run", "mp.c", "--for", "100ms"),
    ("gen", "mp.c", "--list"),
    ("structures",),
    ("structures", "store_buffering", "--claims"),
    ("models",),
    ("models", "rc20"),
    ("explain", "WS101"),
    ("doctor", "--quick"),
    ("check", "--help"),
    ("--help",),
]


def wider(printed: str, width: int) -> list[str]:
    return [line for line in printed.split("\n") if len(line) > width]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_is_wider_than_the_terminal(shown: Shown, command: tuple[str, ...]) -> None:
    for width in WIDTHS:
        printed = shown(width, *command)
        assert printed.count("\n") > 0
        assert wider(printed, width) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_finding_in_a_terminal(shown: Shown, width: int, snapshot: SnapshotAssertion) -> None:
    printed = shown(width, "check", "mp.c")
    assert wider(printed, width) == []
    assert steady(printed[printed.index("WS101") :]) == snapshot


@pytest.mark.parametrize("width", WIDTHS)
def test_the_gate_in_a_terminal(shown: Shown, width: int, snapshot: SnapshotAssertion) -> None:
    printed = shown(width, "gate", "mp.c")
    assert wider(printed, width) == []
    assert steady(printed[printed.index("WS101") :]) == snapshot


def test_results_do_not_stand_behind_a_progress_bar(shown: Shown) -> None:
    lines = shown(80, "relax", "mp.c").split("\n")
    assert any(line.startswith("mp.c  4 annotations") for line in lines)


def test_a_pipe_is_not_wrapped(run: Run) -> None:
    printed = {run("check", "mp.c", COLUMNS=str(width)).out for width in WIDTHS}
    assert len({re.sub(r"\d+\.\d s", "", each) for each in printed}) == 1
    assert max(map(len, printed.pop().split("\n"))) > 100
