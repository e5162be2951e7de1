"""`weakspot check --diff`: what distinguishes memory models, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from samples import SB, Run
from syrupy.assertion import SnapshotAssertion


def with_fenced_variant(folder: Path) -> None:
    fenced = (
        SB.replace("C SB", "C SBsc").replace("release", "seq_cst").replace("acquire", "seq_cst")
    )
    (folder / "SBsc.litmus").write_text(fenced)


def test_tests_that_two_models_answer_differently(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    with_fenced_variant(folder)
    found = run("check", "SB.litmus", "SBsc.litmus", "-m", "sc,tso,rc20", "--diff")
    assert (found.code, found.out) == (0, snapshot)
    shown = run("check", "SB.litmus", "SBsc.litmus", "-m", "sc,tso", "--diff", "--json")
    verdicts = [json.loads(line) for line in shown.out.splitlines()]
    assert [(each["test"], each["model"]) for each in verdicts] == [("SB", "sc"), ("SB", "tso")]


def test_programs_that_are_safe_under_one_model_only(run: Run) -> None:
    found = run("check", "mp.c", "-m", "tso,rc20", "--diff")
    assert found.code == 0
    assert found.out.splitlines()[:3] == ["mp.c/mp", "  tso   Safe", "  rc20  Violated: assertion"]
    assert found.out.splitlines()[-1] == "1 of 1 program and 1 of 1 test distinguish tso, rc20"


def test_models_that_nothing_distinguishes(run: Run, folder: Path) -> None:
    with_fenced_variant(folder)
    found = run("check", "SBsc.litmus", "-m", "sc,tso", "--diff")
    assert (found.code, found.out) == (0, "0 of 1 test distinguish sc, tso\n")


def test_one_model_is_not_enough(run: Run) -> None:
    found = run("check", "SB.litmus", "-m", "sc", "--diff")
    assert (found.code, found.err.splitlines()[0]) == (
        2,
        "error: --diff requires at least two models",
    )
