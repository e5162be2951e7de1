"""docs/python.md shows what the public API does: its examples are run, and print what it says."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import weakspot
from weakspot.system.tools import Tool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:  # noqa: ARG001
    """An empty folder with the page's program in it."""
    (program,) = re.findall(r"^```c\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    (tmp_path / "mp.c").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_examples_of_the_page_print_what_it_shows(need: Callable[[str], Tool]) -> None:
    need("gcc")
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 10
    assert not failed


def test_every_public_name_is_there_and_documented() -> None:
    from weakspot import api

    for name in api.__all__:
        assert getattr(weakspot, name) is getattr(api, name)
        if isinstance(getattr(api, name), type) or callable(getattr(api, name)):
            assert getattr(api, name).__doc__, name
    assert set(api.__all__) <= set(dir(weakspot))


def test_every_function_of_the_api_is_on_the_page() -> None:
    from weakspot import api

    page = PAGE.read_text(encoding="utf-8")
    functions = [name for name in api.__all__ if name[0].islower()]
    assert [name for name in functions if name not in page] == []


def test_leaving_the_loop_ends_the_work_and_a_later_one_resumes_it() -> None:
    answers = weakspot.check("store_buffering", models=["sc", "tso"])
    for _ in answers:
        break
    known = len(answers.record.verdicts) + len(answers.record.explorations)
    assert known < 40
    assert len(list(answers)) == 40
    assert len(list(answers)) == 40


def test_a_model_that_programs_are_not_explored_under_is_refused_with_advice() -> None:
    with pytest.raises(weakspot.BadInput, match="not explored under c11") as refused:
        weakspot.relax("store_buffering", models=["c11"])
    assert refused.value.advice == (
        "sc, tso, pso, rc11, rc20, imm, clr2, x86, aarch64, aarch64-llsc, aarch64-lse, "
        "aarch64-rcpc, power, riscv can be explored"
    )


def test_an_error_in_the_work_is_raised_where_its_answers_are_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from weakspot.harness.checkers.engine import Engine

    def failing(*_: object, **__: object) -> None:
        raise weakspot.ToolFailed("planted")

    monkeypatch.setattr(Engine, "check", failing)
    (test, *_) = weakspot.generate("store_buffering")
    with pytest.raises(weakspot.ToolFailed, match="planted"):
        list(weakspot.check(test, models=["sc"]))
