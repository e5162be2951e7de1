"""What distinguishes memory models: `weakspot check --diff` and `weakspot models --compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
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
    assert found.code == 0
    assert found.out == snapshot
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


def test_smallest_test_that_distinguishes_two_models(run: Run, snapshot: SnapshotAssertion) -> None:
    found = run("models", "--compare", "sc", "tso")
    assert (found.code, found.err) == (0, "")
    assert found.out == snapshot


@pytest.mark.full
def test_a_release_sequence_takes_five_accesses(run: Run) -> None:
    found = run(
        "models", "--compare", "rc20", "rc11", "--accesses", "5", "--json", "--seconds", "5m"
    )
    answer = json.loads(found.out)
    assert (found.code, answer["test"].partition("+")[0]) == (0, "MP")
    assert "coi" in answer["test"]  # only a store that continues a release sequence does
    four, five = answer["searched"]
    assert (four["decided"], four["undecided"], four["is_complete"]) == (9180, 0, True)
    assert five["accesses"] == 5


def test_models_of_a_machine_are_compared_on_its_assembly(run: Run, folder: Path) -> None:
    path = run("models", "x86", "--path").out.strip()
    (folder / "mine.cat").write_text(
        Path(path).read_text().replace('"', '"mine: ', 1) + "\nempty [W]; po; [R] as no_loads\n"
    )
    found = run("models", "--compare", "x86", "mine.cat", "--isa", "x86")
    assert (found.code, found.err) == (0, "")
    assert "forbidden by axiom `no_loads`" in found.out


def test_models_that_no_test_distinguishes(run: Run, folder: Path) -> None:
    (folder / "mine.cat").write_text(Path(run("models", "sc", "--path").out.strip()).read_text())
    found = run("models", "--compare", "sc", "mine.cat", "--accesses", "4", "--seconds", "5m")
    assert (found.code, found.out) == (
        0,
        "none of all 9,180 tests of 4 accesses distinguishes sc and mine\n",
    )
    found = run("models", "--compare", "sc", "mine.cat", "--seconds", "1ms")
    assert found.code == 3
    assert found.out.splitlines()[-1] == "help: --seconds gives the search more time"


def test_models_that_cannot_be_compared(run: Run, snapshot: SnapshotAssertion) -> None:
    found = run("models", "--compare", "rc20", "aarch64")
    assert (found.code, found.out) == (2, "")
    assert found.err == snapshot
    for options, error in (
        (("--compare", "sc", "nosuch"), "error: unknown model 'nosuch'"),
        (("--compare", "sc", "tso", "--accesses", "3"), "error: critical cycles of 3 accesses"),
        (("--compare", "sc", "tso", "--isa", "vax"), "error: no mapping is called vax"),
        (("sc", "--accesses", "4"), "error: --accesses requires --compare"),
        (("sc", "--compare", "sc", "tso"), "error: --compare takes two models"),
    ):
        found = run("models", *options)
        assert (found.code, found.err.splitlines()[0][: len(error)]) == (2, error)
