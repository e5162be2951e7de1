"""ruff finds nothing, and nothing in the tree points at one person's machine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from ended import execute
from tracked import tracked

ROOT = Path(__file__).resolve().parents[2]

#: what only one machine has; matched in the text of every file that belongs to the project
PRIVATE = {
    "a home folder": re.compile(r"(?<![\w.])/(?:home|Users)/(?!USER\b)[a-z]\w*/"),
    "root's home": re.compile(r"(?<![\w.])/root/"),
    "somebody's workshop": re.compile(r"(?<![\w.])/(?:work|workspace)/(?!flow)\w"),
    "a file in /tmp by its random name": re.compile(r"/tmp/tmp\w{6,}"),
    "a package index": re.compile(
        r"https?://[\w.-]*(?:artifactory|nexus|jfrog|pypi\.|files\.pythonhosted|index\.crates|"
        r"proxy\.golang|deb\.debian)[\w.-]*",
        re.IGNORECASE,
    ),
    "a key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|\bghp_\w{20,}|\bAKIA[0-9A-Z]{16}\b"),
}
#: lock files name where a package comes from, which is everybody's place
LOCKS = {"Cargo.lock"}


def files() -> list[Path]:
    return [path for name in tracked() if (path := ROOT / name).is_file()]


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_finds_nothing(arguments: list[str]) -> None:
    execute(sys.executable, "-m", "ruff", *arguments, "--quiet", ".", cwd=ROOT).printed(0)


def test_no_file_points_at_one_machine() -> None:
    found = []
    for path in files():
        if path.name in LOCKS or path == Path(__file__).resolve():
            continue
        text = path.read_bytes().decode(errors="replace")
        for what, pattern in PRIVATE.items():
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{path.relative_to(ROOT)}:{line}: {what}: {match[0]}")
    assert not found, "\n".join(found)
