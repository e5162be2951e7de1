"""Commands that only read import little, which is most of the time that they take."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import pytest
from ended import execute

from weakspot.harness.cli import COMMANDS, weakspot

#: what is slow to import, and of no use to a command that only reads
HEAVY = (
    "dask",
    "distributed",
    "rich",
    "jinja2",
    "llvmlite",
    "capstone",
    "elftools",
    "multiprocessing",
    "weakspot._engine",
    "weakspot.generators.pipeline",
    "weakspot.harness.campaign",
    "weakspot.harness.gate",
    "weakspot.harness.orders",
)


def imported(*arguments: str) -> set[str]:
    """The modules that are imported once the command has run."""
    program = (
        "import json, sys\n"
        "from weakspot.harness.cli import main\n"
        "try:\n    main()\nfinally:\n    print(json.dumps(list(sys.modules)), file=sys.stderr)"
    )
    ran = execute(sys.executable, "-c", program, *arguments).reported(0)
    return set(json.loads(ran.splitlines()[-1]))


@pytest.mark.parametrize(
    "line",
    ["--help", "explain WS101", "structures", "structures duffy_wsq", "models", "models rc11"],
)
def test_command_that_only_reads_imports_nothing_heavy(line: str) -> None:
    assert imported(*line.split()) & set(HEAVY) == set()


def test_check_of_a_litmus_test_imports_neither_generators_nor_runners(folder: Path) -> None:
    needed = {"rich", "weakspot._engine", "weakspot.harness.campaign"}
    others = {
        "email",
        "importlib.resources",
        "platformdirs",
        "tempfile",
        "weakspot.generators.emit.cbmc",
        "weakspot.harness.campaign.several_programs",
        "weakspot.harness.report.witness",
        "weakspot.harness.values.herdlog",
        "weakspot.generators.binary",
        "weakspot.harness.codegen",
        "weakspot.harness.machines.local",
        "weakspot.harness.runners.whole_programs",
    }
    loaded = imported("check", str(folder / "SB.litmus"), "-m", "sc")
    assert loaded & ((set(HEAVY) - needed) | others) == set()


def test_doctor_that_is_quick_imports_nothing_heavy() -> None:
    assert imported("doctor", "--quick") & set(HEAVY) == set()


def test_summaries_are_the_first_lines_of_the_commands_help() -> None:
    context = click.Context(weakspot)
    assert list(COMMANDS) == weakspot.list_commands(context)
    for name, summary in COMMANDS.items():
        command = weakspot.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert (command.help or "").splitlines()[0] == summary
