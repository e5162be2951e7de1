"""A claims.toml is read as it is meant, or refused with file, line and what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import CLAIMS, make_structure, make_test

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
    ("old", "new", "line", "message", "advice"),
    [
        ('says = "', 'sais = "', 13, "unknown key sais", "did you mean says?"),
        ("models =", "modles =", 3, "unknown key modles", "did you mean models?"),
        ('title = "Two flags"\n', "", 0, "the key title is missing", None),
        ('where = "page 1"\n', "", 10, "the key where is missing", None),
        ('name = "both"', "name = 3", 6, "name: expected `str`, got `int`", None),
        ('sc = "Never"', 'sc = "Nevr"', 15, "verdict: invalid enum value 'Nevr'", None),
        ('scenario = "both"', 'scenario = "bot"', 11, "no scenario is called 'bot'", "both?"),
        ('file = "both.c"', 'file = "bth.c"', 7, "no such file", "did you mean both.c?"),
        ("tso = ", "tos = ", 15, "not checked under tos", "did you mean tso?"),
        ('test = "SB"\n', "", 10, "one test, or about the explored", "either test and verdict"),
        (
            'test = "SB"',
            'test = "SB"\nexplored = { sc = "Safe" }',
            14,
            "one test, or about the explored",
            "either test and verdict",
        ),
        ('test = "SB"', 'test = "SB"\nseen = ["x86"]', 15, "no such kind of machine", "x86_64?"),
        ('says = "', "says = ", 13, "not TOML", None),
    ],
)
def test_what_does_not_fit_is_shown_where_it_stands(
    tmp_path: Path, old: str, new: str, line: int, message: str, advice: str | None
) -> None:
    error = broken(tmp_path, old, new)
    assert message in error.message
    expected = f"claims.toml:{line}" if line else "claims.toml"
    assert expected in (error.place or "")
    assert line or not (error.place or "").endswith(":0")
    if advice:
        assert advice in (error.advice or "")


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
        ("tso", "c20", "no program is explored under c20", "a test's verdict"),
    ],
)
def test_what_cannot_be_explored_is_refused_at_its_line(
    tmp_path: Path, old: str, new: str, message: str, advice: str
) -> None:
    text = EXPLORED.replace(old, new)
    with pytest.raises(BadInput) as caught:
        structures.structures(make_structure(tmp_path, text))
    assert message in caught.value.message
    assert (caught.value.place or "").endswith("claims.toml:14")
    assert advice in (caught.value.advice or "")


def test_a_name_that_is_nearly_right_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no structure is called flag") as caught:
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
