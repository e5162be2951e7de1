"""A project's answers are there for its next run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weakspot.harness.gate.store import Answer, CacheStore, project_folder
from weakspot.harness.values.exploration import Exploration
from weakspot.system import cache

SAFE = Exploration(program="p", model="rc20", result="Safe")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path


def store(project: Path, *, cached: bool = True) -> CacheStore:
    return CacheStore(project_folder(project) / "answers" if cached else None)


def put(project: Path, *, final: bool = True, cached: bool = True) -> CacheStore:
    made = store(project, cached=cached)
    made.put("key", SAFE, final=final)
    return made


def test_an_answer_is_there_for_the_next_run(project: Path) -> None:
    assert put(project).stored == set()
    again = store(project)
    assert again.has("key")
    assert again.get("key") == Answer(exploration=SAFE)
    assert again.stored == {"key"}
    assert not again.has("another key")


def test_what_was_used_last_is_removed_last(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CACHE_ENTRIES", 20)
    put(project)
    answers = project / ".weakspot" / "answers"
    for path in answers.iterdir():
        os.utime(path, (0, 0))
    for number in range(19):
        assert cache.write_bytes(answers / f"{number}.json", b"{}")
        os.utime(answers / f"{number}.json", (1, 1))
    assert store(project).has("key")
    assert cache.write_bytes(answers / "newest.json", b"{}")
    assert len(list(answers.glob("*.json"))) == 18
    assert store(project).has("key")


def test_a_truncated_answer_is_for_this_run_only(project: Path) -> None:
    now = put(project, final=False)
    assert (now.has("key"), now.get("key")) == (False, Answer(exploration=SAFE))
    assert not store(project).has("key")


def test_a_damaged_file_is_an_answer_to_ask_for_again(project: Path) -> None:
    put(project)
    (path,) = (project / ".weakspot" / "answers").glob("*.json")
    path.write_bytes(path.read_bytes()[:-3])
    assert not store(project).has("key")


def test_without_a_folder_answers_last_as_long_as_the_process(project: Path) -> None:
    assert put(project, cached=False).has("key")
    assert not (project / ".weakspot").exists()
    assert not store(project, cached=False).has("key")


def test_of_too_many_files_the_oldest_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "CACHE_ENTRIES", 20)
    (tmp_path / "other.txt").touch()
    for number in range(20):
        assert cache.write_bytes(tmp_path / f"{number}.json", b"{}")
        os.utime(tmp_path / f"{number}.json", (number, number))
    assert len(list(tmp_path.glob("*.json"))) == 20
    assert cache.write_bytes(tmp_path / "newest.json", b"{}")
    stored = {path.stem for path in tmp_path.glob("*.json")}
    assert stored == {"newest", *(str(number) for number in range(3, 20))}
    assert (tmp_path / "other.txt").exists()
