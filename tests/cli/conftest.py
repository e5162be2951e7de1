"""The real program, in a process of its own, in an empty folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ended import Ended
from samples import PROGRAM, SB, Run


class Commands:
    """Performs commands of weakspot: see forked.py."""

    def __init__(self, folder: Path) -> None:
        self.files = [folder / name for name in ("input", "output", "errors")]
        self.server = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("forked.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def perform(
        self, arguments: tuple[str, ...], folder: Path, environment: dict[str, str], stdin: str
    ) -> Ended:
        """Perform a command."""
        for file, content in zip(self.files, (stdin, "", ""), strict=True):
            file.write_text(content)
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment,
            "files": [str(each) for each in self.files],
        }
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        code = int(self.server.stdout.readline())
        _, out, err = (each.read_text() for each in self.files)
        return Ended(code, out, err)


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """The server that performs the commands of all tests."""
    commands = Commands(tmp_path_factory.mktemp("commands"))
    yield commands
    commands.server.communicate(timeout=10)


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
def run(folder: Path, commands: Commands) -> Run:
    """`run("check", "SB.litmus")`, in the folder or `below` it, with an input or none; other
    keywords are environment variables, None takes one away."""

    def ran(*arguments: str, below: str = "", stdin: str = "", **variables: str | None) -> Ended:
        ours = {"NO_COLOR": "1", "WEAKSPOT_DEBUG": None, "WEAKSPOT_RESULTS": None}
        wanted = {**os.environ, **ours, **variables}
        environment = {name: value for name, value in wanted.items() if value is not None}
        return commands.perform(arguments, folder / below, environment, stdin)

    return ran
