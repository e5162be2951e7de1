"""A user's project in a folder of its own, and the program run in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import CONFIG, PUSH_POP, QUEUE, SB, Ended, Project

from weakspot.harness.cli import weakspot
from weakspot.harness.edge import guarded


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where compiled files are kept, so that each text is compiled once in all the tests."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def project(
    tmp_path_factory: pytest.TempPathFactory,
    compiled: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Project:
    folder = tmp_path_factory.mktemp("project")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        code = guarded(weakspot, arguments)
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    made = Project(folder, run)
    made.write("include/queue.hpp", QUEUE)
    made.write("tests/push_pop.cpp", PUSH_POP)
    made.write("tests/SB.litmus", SB)
    made.write("weakspot.toml", CONFIG)
    return made
