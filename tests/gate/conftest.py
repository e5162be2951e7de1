"""A user's project in a folder of its own, and the program run in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from projects import CONFIG, PUSH_POP, QUEUE, SB, Ended, Project

from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, compiled_once: Path) -> Path:
    """One place for every project: a text that was compiled there is not compiled again."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "cache" / "weakspot").mkdir(parents=True)
    (folder / "cache" / "weakspot" / "library").symlink_to(compiled_once / "library")
    return folder


@pytest.fixture
def project(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    folder = place / "repository" / "project"
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        code = guarded(weakspot, arguments)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    made = Project(folder, run)
    made.write("include/queue.hpp", QUEUE)
    made.write("tests/push_pop.cpp", PUSH_POP)
    made.write("tests/SB.litmus", SB)
    made.write("weakspot.toml", CONFIG)
    return made
