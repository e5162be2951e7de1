"""A claims.toml is read, or refused with file, line and a suggestion."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import CLAIMS, make_structure, make_test
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.errors import BadInput
from weakspot.harness.corpus import structures


def broken(tmp_path: Path, old: str, new: str) -> BadInput:
    assert old in CLAIMS
    make_structure(tmp_path, CLAIMS.replace(old, new))
    with pytest.raises(BadInput) as caught:
        structures.structures(tmp_path)
    return caught.value


def test_a_structure_is_a_folder_with_claims(tmp_path: Path) -> None:
    (structure,) = structures.structures(make_structure(tmp_path))
    assert (structure.name, structure.title, structure.models) == (
        "flags",
        "Two flags",
        ("sc", "tso"),
    )
    assert structure.path(structure.scenarios[0]) == tmp_path / "flags" / "both.c"
    assert structure.claims[0].verdict == {"sc": "Never", "tso": "Sometimes"}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('says = "', 'sais = "', 13),
        ("models =", "modles =", 3),
        ('title = "Two flags"\n', "", 0),
        ('where = "page 1"\n', "", 10),
        ('name = "both"', "name = 3", 6),
        ('sc = "Never"', 'sc = "Nevr"', 15),
        ('scenario = "both"', 'scenario = "bot"', 11),
        ('file = "both.c"', 'file = "bth.c"', 7),
        ("tso = ", "tos = ", 15),
        ('test = "SB"\n', "", 10),
        ('test = "SB"', 'test = "SB"\nexplored = { sc = "Safe" }', 14),
        ('test = "SB"', 'test = "SB"\nseen = ["x86"]', 15),
        ('says = "', "says = ", 13),
    ],
)
def test_an_invalid_claims_file_is_an_error_at_its_line(
    tmp_path: Path, old: str, new: str, line: int, snapshot: SnapshotAssertion
) -> None:
    error = broken(tmp_path, old, new)
    expected = f"claims.toml:{line}" if line else "claims.toml"
    assert expected in (error.place or "")
    assert steady(str(error), tmp_path) == snapshot


EXPLORED = CLAIMS[: CLAIMS.index("test =")] + 'explored = { sc = "Safe", tso = "Violated: race" }\n'


def test_a_claim_may_be_about_the_explored_program(tmp_path: Path) -> None:
    (structure,) = structures.structures(make_structure(tmp_path, EXPLORED))
    assert structure.claims[0].explored == {"sc": "Safe", "tso": "Violated: race"}


@pytest.mark.parametrize(
    ("old", "new", "message", "advice"),
    [
        ("Violated: race", "Violated: rice", "invalid enum value 'Violated: rice'", ""),
        ("Violated: race", "Violated", "invalid enum value 'Violated'", ""),
        ("tso = ", "rc11 = ", "not checked under rc11", "add rc11 to models"),
        ("tso", "c20", "programs are not explored under c20", "the verdict of a test"),
    ],
)
def test_an_impossible_explored_result_is_refused_at_its_line(
    tmp_path: Path, old: str, new: str, message: str, advice: str
) -> None:
    text = EXPLORED.replace(old, new)
    with pytest.raises(BadInput) as caught:
        structures.structures(make_structure(tmp_path, text))
    assert message in caught.value.message
    assert (caught.value.place or "").endswith("claims.toml:14")
    assert advice in (caught.value.advice or "")


def test_a_name_that_is_nearly_right_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown structure flag") as caught:
        structures.find("flag", make_structure(tmp_path))
    assert caught.value.advice == "did you mean flags?"


def test_golden_and_hand_written_tests_stand_beside_the_source(tmp_path: Path) -> None:
    folder = make_structure(tmp_path) / "flags"
    for place, name in (("tests", "SB"), ("hand", "SB+own")):
        (folder / place).mkdir()
        (folder / place / f"{name}.litmus").write_text(make_test(name).text)
    structure = structures.find("flags", tmp_path)
    assert [test.name for test in structure.golden()] == ["SB"]
    assert [(test.name, test.path) for test in structure.hand_written()] == [
        ("SB+own", "flags/hand/SB+own.litmus")
    ]


def test_every_structure_of_the_corpus_is_well_formed() -> None:
    for structure in structures.structures():
        assert structure.title
        assert structure.source
        assert structure.scenarios
