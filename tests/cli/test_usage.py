"""Help that helps, and answers at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot import __version__


def test_the_version(run) -> None:
    assert run("--version").out == f"weakspot {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["chekc", "SB.litmus"], "did you mean check?"),
        (["check", "SB.litmus", "--modle", "sc"], "--model"),
        (["check", "SB.litmus", "--checker", "herd"], "herd7"),
        (["check"], "weakspot check --help"),
        (["run", "SB.litmus", "--for", "soon"], "500ms, 10s, 2m"),
        (["run", "SB.litmus", "--for", "0s"], "for example 10s"),
        (["check", "SB.litmus", "--timeout", "-1"], "500ms, 10s, 2m"),
        (["gen", "SB.litmus", "--list", "--promote"], "exclude each other"),
        (["report", "a", "b", "-o", "c"], "-o goes with one"),
    ],
    ids=" ".join,
)
def test_bad_usage_is_said_in_a_few_lines(run, arguments: list[str], advice: str) -> None:
    ended = run(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert advice in ended.err
    assert len(ended.err.splitlines()) <= 4


def test_models_and_structures_are_listed_and_told_in_full(run) -> None:
    names = [line.split()[0] for line in run("models").out.splitlines()]
    assert names[:2] == ["sc", "tso"]
    assert "acyclic" in run("models", "tso").out
    assert Path(run("models", "tso", "--path").out.strip()).is_file()
    listed = run("structures").out
    assert "store_buffering  " in listed
    told = run("structures", "store_buffering", "--claims").out
    assert told.splitlines()[0].split()[:4] == ["structure", "scenario", "test", "recorded"]
    assert " of 20 claims decided" in told


@pytest.mark.parametrize("command", ["models", "structures", "doctor"])
def test_json_is_one_object_a_line(run, command: str) -> None:
    import json

    ended = run(command, "--json")
    values = [json.loads(line) for line in ended.out.splitlines()]
    assert values
    assert all("name" in value for value in values)
