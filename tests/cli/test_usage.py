"""Help that helps, and answers at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from weakspot import __version__

COMMANDS = ("gen", "check", "run", "relax", "test", "report", "doctor", "structures", "models")


def test_help_names_every_command_and_every_exit_code(run) -> None:
    shown = run("--help")
    assert shown.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in shown.out
    for code in range(4):
        assert f"{code} " in shown.out.partition("Exit codes:")[2]
    assert run("-h").out == shown.out
    assert max(map(len, shown.out.splitlines())) <= 100


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_shows_an_example_of_itself(run, command: str) -> None:
    shown = run(command, "--help")
    assert shown.code == 0
    examples = shown.out.partition("Example")[2]
    assert f"\n  weakspot {command}" in examples
    assert max(map(len, shown.out.splitlines())) <= 100


def test_the_version(run) -> None:
    assert run("--version").out == f"weakspot {__version__}\n"


def test_help_answers_at_once() -> None:
    """Nothing heavy is loaded for it: measured by what is imported, which no other load sways."""
    code = (
        "import sys, contextlib\n"
        "from weakspot.harness.cli import main\n"
        "sys.argv = ['weakspot', '--help']\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "heavy = {'llvmlite', 'jinja2', 'rich', 'ziglang', 'weakspot._engine'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
    assert done.returncode == 0
    assert time.monotonic() - begin < 3  # 0.2 s on an idle machine


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


def test_no_arguments_show_the_help(run) -> None:
    ended = run()
    assert ended.code == 2
    assert "Commands:" in ended.out + ended.err


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
