"""herd7 and diy7 as the tests of the models use them: files in, answers out, nothing of ours."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from weakspot.system.herdtools import libdir
from weakspot.system.tools import Tool


class Answer(NamedTuple):
    """What herd7 says of a test under a model."""

    states: frozenset[str]
    observation: str  # Never, Sometimes, Always
    undefined: bool
    flags: tuple[str, ...]


def generate(diy7: Tool, config: Path, folder: Path, *options: str) -> list[Path]:
    """The tests of a diy7 configuration, written into `folder`; options overrule it."""
    # having read a configuration, diy7 starts itself anew, by its name alone
    path = os.pathsep.join([str(Path(diy7.path).parent), os.environ.get("PATH", os.defpath)])
    subprocess.run(
        [diy7.path, "-conf", str(config), *options],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": path},
    )
    return sorted(folder.glob("*.litmus"))


def ask(
    herd7: Tool, model: str | Path, tests: Sequence[Path], *options: str, warns: str = r"(?!)"
) -> dict[str, Answer]:
    """herd7's answers by test name; `model` is a path, of a cat file or of a configuration, or a
    name that herd7 knows itself. `warns`: a pattern of what herd7 may warn of.

    c11.def is herd7's own: without it atomic_exchange, which diy7 writes, is unknown to herd7.
    """
    if isinstance(model, Path) and "-set-libdir" not in options:
        # herd7 does not look beside the model; its own cos.cat is the quicker one
        options = (*options, "-I", str(libdir()), "-I", str(model.parent))
    under = ["-macros", "c11.def", "-model", str(model)]
    if Path(model).suffix == ".cfg":
        under = ["-conf", str(model)]
    run = subprocess.run(
        [herd7.path, *options, *under, *map(str, tests)], capture_output=True, text=True, check=True
    )
    warnings = [line for line in run.stderr.splitlines() if not re.search(warns, line)]
    assert not warnings, run.stderr
    answers = {}
    for block in re.split(r"^Test ", run.stdout, flags=re.MULTILINE)[1:]:
        lines = block.splitlines()
        first = 1 + next(i for i, line in enumerate(lines) if line.startswith("States "))
        count = int(lines[first - 1].split()[1])
        answers[lines[0].split()[0]] = Answer(
            states=frozenset(lines[first : first + count]),
            observation=next(x for x in lines if x.startswith("Observation ")).split()[2],
            undefined="Undef" in lines,
            flags=tuple(sorted(line[5:] for line in lines if line.startswith("Flag "))),
        )
    assert len(answers) == len(tests), "two tests have one name, or herd7 passed one over"
    return answers


def read_state(line: str) -> dict[str, str]:
    """A state as herd7 prints it: values by register and location."""
    return dict(re.findall(r"\[?([\w:]+)\]?=(-?\d+);", line))
