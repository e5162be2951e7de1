"""A user's project in a folder of its own, and the program run in it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from ended import Ended
from projects import CONFIG, PUSH_POP, QUEUE, SB, Project

from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, compiled_once: Path) -> Path:
    """One place for every project: a text that was compiled there is not compiled again."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "library").symlink_to(compiled_once / "library")
    return folder


def _cache(place: Path, header: Path) -> Path:
    """The user's cache while the project's header has this text. The compiler's answer to the text
    before it would be replaced, and most tests weaken the header."""
    text = header.read_bytes() if header.exists() else b""
    cache = place / hashlib.sha256(text).hexdigest()[:16]
    if not cache.exists():
        (cache / "weakspot").mkdir(parents=True)
        (cache / "weakspot" / "library").symlink_to(place / "library")
    return cache


@pytest.fixture
def project(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    folder = place / "repository" / "project"
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        monkeypatch.setenv("XDG_CACHE_HOME", str(_cache(place, folder / "include/queue.hpp")))
        code = guarded(weakspot, arguments)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    made = Project(folder, run)
    made.write("include/queue.hpp", QUEUE)
    made.write("tests/push_pop.cpp", PUSH_POP)
    made.write("tests/SB.litmus", SB)
    made.write("weakspot.toml", CONFIG)
    return made
