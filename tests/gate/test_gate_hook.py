"""The pre-commit hook for an installed weakspot, as pre-commit runs it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from ended import Ended, execute
from pre_commit.clientlib import load_manifest  # type: ignore[import-untyped]
from projects import Project

MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


@pytest.fixture
def commit(project: Project, place: Path) -> Project:
    """The project as a repository with the hook; its command stages everything and runs hooks."""
    built, installed = load_manifest(str(MANIFEST))
    asked = ("id", "name", "entry", "language", "files", "pass_filenames", "require_serial")
    local = {key: installed[key] for key in asked}
    same = set(asked) - {"id", "language"}
    assert all(built[key] == installed[key] for key in same)
    config = {"repos": [{"repo": "local", "hooks": [local]}]}
    project.write(".pre-commit-config.yaml", json.dumps(config))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        **{"PATH": path, "PRE_COMMIT_HOME": str(place / "hooks"), "PRE_COMMIT_COLOR": "never"},
    }

    def run(*command: str) -> Ended:
        return execute(*command, cwd=project.folder, env=environment)

    def staged() -> Ended:
        assert run("git", "add", "--all").code == 0
        return run(sys.executable, "-m", "pre_commit", "run")

    assert run("git", "init", "--quiet").code == 0
    return Project(project.folder, staged)


def test_the_hook_stops_a_commit_that_weakens_an_order(commit: Project) -> None:
    passed = commit.weakspot()
    assert passed.code == 0, passed.out + passed.err
    assert "Passed" in passed.out
    commit.weaken()
    failed = commit.weakspot()
    assert failed.code == 1, failed.err
    assert "needs at least release under rc20" in failed.out


def test_the_hook_passes_over_a_commit_that_touches_no_source(commit: Project) -> None:
    for path in commit.folder.rglob("*"):
        if path.is_file() and path.suffix in (".cpp", ".hpp", ".litmus", ".toml"):
            path.unlink()
    commit.write("README.md", "nothing but words")
    skipped = commit.weakspot()
    assert skipped.code == 0
    assert "Skipped" in skipped.out
