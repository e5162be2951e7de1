"""The help of every command, as it is printed."""

from __future__ import annotations

import re

import pytest
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.cli import COMMANDS


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(run: Run, snapshot: SnapshotAssertion, command: str) -> None:
    shown = run(*command.split(), "--help")
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 100
    examples = shown.out.partition("Example")[2]
    assert re.search(rf"^  weakspot {command}", examples, re.M)
    assert steady(shown.out) == snapshot


def test_short_option_and_no_arguments_show_the_same_help(run: Run) -> None:
    shown = run("--help").out
    assert run("-h").out == shown
    none = run()
    assert none.code == 2
    assert none.err.strip() == shown.strip()
