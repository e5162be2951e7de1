"""docs/tutorial.md tells the truth: its program, its commands, what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
TEXT = TUTORIAL.read_text(encoding="utf-8")
SESSIONS = re.findall(r"```console\n\$ weakspot (.+)\n((?s:.*?))```", TEXT)


@pytest.fixture
def programs(folder: Path) -> Path:
    """The three programs that the tutorial speaks of."""
    source = re.search(r"```c\n(.*?)```", TEXT, re.S)
    assert source
    flags = source[1]
    (folder / "flags.c").write_text(flags)
    fixed = re.sub("memory_order_(release|acquire)", "memory_order_seq_cst", flags)
    (folder / "fixed.c").write_text(fixed)
    (folder / "wrong.c").write_text(flags.replace("int inside;", "int inside = 1;"))
    return folder


def test_there_are_sessions_to_try() -> None:
    assert len(SESSIONS) >= 4


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_a_command_prints_what_the_tutorial_shows(run, command: str, shown: str) -> None:
    """Every line shown is printed, in this order; `…` stands for lines left out."""
    ended = run(*command.split())
    assert ended.code == (1 if "\nWS" in shown else 0), ended.err
    printed = iter(ended.out.splitlines())
    for line in shown.splitlines():
        assert line == "…" or line in printed, f"not printed in its place: {line}\n{ended.out}"
