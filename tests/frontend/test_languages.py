"""A language of sources is one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weakspot.generators.source import languages as folder
from weakspot.generators.source.language import candidates, languages, sources
from weakspot.generators.source.program import read_program

TOY = """\
import msgspec
from weakspot.generators.source.languages.c import LANGUAGE as C

LANGUAGE = msgspec.structs.replace(C, rank=100, suffixes=(".toy",), headers=())
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A language that is C but for its suffix."""
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "toy.py").write_text(TOY)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path / "toys")])
    for each in (languages, sources):
        each.cache_clear()
    yield
    for each in (languages, sources):
        each.cache_clear()
    del sys.modules[f"{folder.__name__}.toy"]


@pytest.mark.usefixtures("toy")
def test_a_file_adds_a_language(tmp_path: Path) -> None:
    source = tmp_path / "main.toy"
    source.write_text("inline int f(void) { return 0; }\nint main(void) { return f(); }\n")
    assert read_program(source).units[0].options[0] == "-fgnu89-inline"


def test_a_suffix_of_sources_is_of_one_language() -> None:
    assert sum(len(each.suffixes) for each in languages()) == len(sources())


@pytest.mark.parametrize(
    ("name", "grammars"),
    [
        ("a.c", ["tree_sitter_c"]),
        ("a.C", ["tree_sitter_cpp"]),
        ("a.c++", ["tree_sitter_cpp"]),
        ("a.hpp", ["tree_sitter_cpp"]),
        ("a.h", ["tree_sitter_c", "tree_sitter_cpp"]),
        ("atomic", []),
    ],
)
def test_a_name_says_which_languages_a_file_may_be_in(name: str, grammars: list[str]) -> None:
    assert [each.grammar for each in candidates(Path(name))] == grammars
