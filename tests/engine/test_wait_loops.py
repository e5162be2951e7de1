"""Loops that wait, and loops that only look like it: each program of `wait_loops` says in its first
lines what exploring it shows, without and with macros that weaken or break it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weakspot._engine import Program
from weakspot.generators.source.build import Build
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.checkers.engine_answers import reasons_of
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.reason import sentence

FOLDER = Path(__file__).parent / "wait_loops"
MODELS = Path(__file__).parents[2] / "models"

EXPECTED = re.compile(r"// (?:-D(?P<macro>\w+) )?(?P<models>[a-z0-9,]+): (?P<shown>.*)")


def cases() -> list[object]:
    found: list[object] = []
    for path in sorted(FOLDER.glob("*.c*")):
        for line in path.read_text().splitlines():
            if case := EXPECTED.fullmatch(line):
                macro = case["macro"] or ""
                for model in case["models"].split(","):
                    name = "-".join(filter(None, (path.name, macro, model)))
                    found.append(pytest.param(path, macro, model, case["shown"], id=name))
    return found


@pytest.mark.parametrize(("path", "macro", "model", "shown"), cases())
def test_a_loop_waits_if_its_iterations_have_no_effect(
    path: Path, macro: str, model: str, shown: str
) -> None:
    build = Build(defines=(macro,) if macro else ())
    program = Program(compile_source(path, build=build).text)
    known = models.load()[model]
    assert known.acyclic != "none"
    found = program.explore(
        str(known.path),
        bounds=Bounds(seconds=60.0, loops=4),
        folders=[str(MODELS)],
        acyclic=known.acyclic,
    )
    result, _, part = shown.partition(": ")
    if result in ("Safe", "Unknown"):
        assert found["result"] == result, found["reasons"]
        assert part in " ".join(map(sentence, reasons_of(found)))
    else:
        assert result in {violation["kind"] for violation in found["violations"]}
