"""Jobs about the files of folders: a few at once, answered in their order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from weakspot.harness.campaign import check_jobs as file_jobs
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.check_jobs import CheckFiles
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.checkers import FilesCheck
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.corpus import litmus_files, models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.verdict import PrintedVerdict, Verdict
from weakspot.questions import check_folders

if TYPE_CHECKING:
    from weakspot._engine import LitmusFile


class Answers:
    """The answers of jobs, by the names of their tests, and whether they are final."""

    def __init__(self) -> None:
        self.found: list[tuple[list[str], bool]] = []

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:  # noqa: ARG002
        assert isinstance(answer, tuple)
        self.found.append(([f"{each.verdict.test} {each.verdict.model}" for each in answer], final))

    def at(self, text: str) -> None:
        raise AssertionError(text)


def verdicts(part: Sequence[PrintedVerdict]) -> list[Verdict]:
    return [each.verdict for each in part]


def answered(test: str, model: str) -> PrintedVerdict:
    verdict = Verdict(
        test=test, model=model, checker="", observation="Never", condition_holds=False
    )
    return PrintedVerdict(verdict, "")


class Backwards(Engine, frozen=True):
    """Answers the last file first, and is interrupted after some answers under a model."""

    ends: dict[str, int] = {}  # noqa: RUF012

    def files_check(self, model: Model, *, form: str, seconds: float) -> FilesCheck:  # noqa: ARG002
        def check(files: Sequence[LitmusFile], done: Callable[[int, PrintedVerdict], None]) -> None:
            for at in reversed(range(len(files))):
                if len(files) - at > self.ends.get(model.name, 99):
                    raise KeyboardInterrupt
                done(at, answered(files[at].name, model.name))

        return check


def asked(
    checker: Backwards, folder: Path, sizes: Sequence[int], under: Sequence[str]
) -> list[CheckFiles]:
    """Jobs about so many files each, under these models."""
    for number, size in enumerate(sizes):
        for file in range(size):
            (folder / f"{'abcdef'[number]}{file}.litmus").write_text("nothing")
    tests = litmus_files.folder_tests([str(folder)], under)
    assert tests is not None
    chosen = [(models.resolve(name), ("",)) for name in under]
    ends = list(itertools.accumulate(sizes))
    return [
        CheckFiles(
            key=str(end),
            files=tests.files[end - size : end],
            models=chosen,
            checker=checker,
            form="",
            seconds=1.0,
        )
        for size, end in zip(sizes, ends, strict=True)
    ]


def test_jobs_are_reported_in_their_order_once_they_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_jobs, "FILE_JOBS_AT_ONCE", 2)
    answers = Answers()
    jobs = asked(Backwards(), tmp_path, [2, 0, 1, 1, 2], ["sc", "tso"])
    CheckFiles.perform(jobs, answers)
    assert answers.found == [
        (["a0 sc", "a0 tso", "a1 sc", "a1 tso"], True),
        ([], True),
        (["c0 sc", "c0 tso"], True),
        (["d0 sc", "d0 tso"], True),
        (["e0 sc", "e0 tso", "e1 sc", "e1 tso"], True),
    ]


def test_what_is_known_after_an_interruption_is_reported_for_this_command_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_jobs, "FILE_JOBS_AT_ONCE", 3)
    answers = Answers()
    checker = msgspec.structs.replace(Backwards(), ends={"tso": 2})
    with pytest.raises(KeyboardInterrupt):
        CheckFiles.perform(asked(checker, tmp_path, [1, 1, 1, 1], ["sc", "tso"]), answers)
    assert answers.found == [
        (["a0 sc"], False),
        (["b0 sc", "b0 tso"], False),
        (["c0 sc", "c0 tso"], False),
    ]


TEST = """\
C t{0}
{{}}
P0 (atomic_int* x) {{
  atomic_store_explicit(x, {0}, memory_order_relaxed);
}}
exists (x=1)
"""


@pytest.mark.parametrize("stored", [0, 1 << 20])
def test_neither_parts_nor_stored_texts_change_answers(
    stored: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        text = TEST.format(number)
        (tmp_path / f"{number}.litmus").write_text(
            text.replace("\n", "\r\n" if number % 2 else "\n")
        )
    monkeypatch.setattr(litmus_files, "STORED", stored)
    monkeypatch.setattr(planning, "TESTS_PER_JOB", 2)
    monkeypatch.setattr(file_jobs, "FILE_JOBS_AT_ONCE", 2)
    folders = check_folders([str(tmp_path)], models=["sc", "rc11"])
    assert folders is not None
    found: list[str] = []

    def take(part: Sequence[PrintedVerdict]) -> None:
        found.extend(f"{v.test} {v.model} {v.observation}" for v in verdicts(part))

    folders.wait(take)
    assert found == [
        f"t{number} {model} {'Always' if number == 1 else 'Never'}"
        for number in range(9)
        for model in ("sc", "rc11")
    ]


@pytest.mark.parametrize(("stored", "decided"), [(0, 0), (1 << 20, 5)])
def test_stored_texts_are_not_read_again(
    stored: int, decided: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(litmus_files, "STORED", stored)
    for number in range(9):
        # no texts with other ends of lines are stored
        text = TEST.format(number).replace("\n", "\r\n" if number % 2 else "\n")
        (tmp_path / f"{number}.litmus").write_text(text)
    folders = check_folders([str(tmp_path)], models=["sc"])
    assert folders is not None
    for file in tmp_path.iterdir():
        file.unlink()
    found: list[str] = []
    folders.wait(lambda part: found.extend(v.observation for v in verdicts(part)))
    assert len(found) == 9
    assert found.count("Unknown") == 9 - decided
