"""Wrong usage gives advice in a few lines; what commands list is complete."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot import __version__
from weakspot.system.tools import Tool

ROOT = Path(__file__).resolve().parents[2]


def test_version(run: Run) -> None:
    assert run("--version").out == f"weakspot {__version__}\n"


@pytest.mark.parametrize(
    "line",
    [
        "chekc SB.litmus",
        "check SB.litmus --modle sc",
        "check SB.litmus --checker herd",
        "check",
        "run SB.litmus --for soon",
        "run SB.litmus --for 0s",
        "check SB.litmus --timeout -1",
        "check SB.litmus -m sc,tso --format herd",
        "check SB.litmus --compiled all --witness",
        "check SB.litmus --code operations",
        "gen SB.litmus --list --promote",
        "gen SB.litmus --isa x86 --check",
        "report a b -o c",
        "structures --in results",
        "explain nothing",
        "explain WS999",
        "gate",
        "gate --sarif nowhere/gate.sarif mp.c",
        "gate --jsno",
        "report mp.c",
        "gen mp.c -o mp.c",
    ],
)
def test_wrong_usage(run: Run, snapshot: SnapshotAssertion, line: str) -> None:
    ended = run(*line.split())
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) <= 4
    assert steady(ended.err) == snapshot


@pytest.mark.parametrize("command", ["models", "structures", "doctor", "doctor --quick"])
def test_json_is_one_object_per_line(run: Run, command: str) -> None:
    values = [json.loads(line) for line in run(*command.split(), "--json").out.splitlines()]
    assert values
    assert all("name" in value for value in values)


def test_quick_doctor_finds_what_doctor_finds(run: Run) -> None:
    slow, quick = (
        [json.loads(line) for line in run("doctor", *options, "--json").out.splitlines()]
        for options in ((), ("--quick",))
    )
    assert [(line["name"], line["where"]) for line in quick] == [
        (line["name"], line["where"]) for line in slow
    ]


def test_model_is_printed_with_its_cat_file(run: Run) -> None:
    path = Path(run("models", "tso", "--path").out.strip())
    assert run("models", "tso").out.rstrip().endswith(path.read_text().rstrip())


def test_explain_prints_the_page(run: Run) -> None:
    page = (ROOT / "docs" / "findings" / "WS101.md").read_text()
    printed = run("explain", "WS101").out.rstrip()
    assert printed.startswith("# WS101 assertion violated\n")
    assert page.rstrip().endswith(printed)


@pytest.mark.usefixtures("folder")
def test_checkers_and_runners_are_named_by_lists(run: Run, need: Callable[[str], Tool]) -> None:
    need("herd7")
    need("litmus7")
    ended = run("check", "SB.litmus", "-m", "sc", "--checker", "engine,herd7", "--json")
    assert [json.loads(line)["checker"] for line in ended.out.splitlines()] == ["engine", "herd7"]
    ended = run("run", "SB.litmus", "--runner", "native,litmus7", "--for", "0.1s", "--json")
    assert {json.loads(line)["runner"] for line in ended.out.splitlines()} == {"native", "litmus7"}
    assert run("check", "SB.litmus", "--checker", "engine,nothing").code == 2


@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(shutil.which("aarch64-linux-gnu-gcc") is not None, reason="it is installed")
def test_advice_names_the_compiler_for_the_target_that_is_missing(run: Run) -> None:
    errors = run("check", "SB.litmus", "--compiled", "gcc,O2,aarch64").reported(2)
    assert "Debian, Ubuntu: gcc-aarch64-linux-gnu)" in errors
    assert "clang" not in errors
