"""The real program, in a process of its own, in an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from samples import PROGRAM, SB, WEAKSPOT, Ended, Run


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One place for the folders of a module's tests: a text that was compiled there is not compiled
    again."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture
def folder(place: Path) -> Path:
    """The folder that the program runs in, with a litmus test and a program."""
    here = place / "here"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    (here / "SB.litmus").write_text(SB)
    (here / "mp.c").write_text(PROGRAM.replace("EXPECTED", "42"))
    (here / "wrong.c").write_text(PROGRAM.replace("EXPECTED", "7"))
    return here


@pytest.fixture
def run(folder: Path) -> Run:
    """`run("check", "SB.litmus")`, in the folder or `below` it, with an input or none; other
    keywords are environment variables, None takes one away."""

    def ran(*arguments: str, below: str = "", stdin: str = "", **variables: str | None) -> Ended:
        wanted = {"NO_COLOR": "1", "WEAKSPOT_DEBUG": None, "WEAKSPOT_RESULTS": None, **variables}
        environment = {**os.environ, **wanted}
        done = subprocess.run(
            [WEAKSPOT, *arguments],
            cwd=folder / below,
            env={name: value for name, value in environment.items() if value is not None},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return ran
