"""The real program, in a process of its own, in an empty folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from samples import PROGRAM, SB, WEAKSPOT, Ended, Run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that the program runs in, with a litmus test and a program."""
    here = tmp_path / "here"
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
