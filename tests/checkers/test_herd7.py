"""herd7 as a checker: what it says reaches us whole. What it promises as every checker does is in
test_deciders.py."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from texts import SB, asked, made

from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.values.herdlog import format_verdicts, parse_verdicts
from weakspot.system.tools import Tool


def test_many_tests_agree_with_herd7_asked_by_hand(
    tmp_path: Path, need: Callable[[str], Tool]
) -> None:
    """In batches or alone, in whatever order: the verdicts, written as a log, are herd7's own."""
    values = [f"{a}/\\ 1:r0={b}" for a in range(3) for b in range(3)]
    tests = []
    for number, value in enumerate(values * 3):
        text = SB.replace("C SB", f"C SB{number:02}").replace("0 /\\ 1:r0=0", value)
        tests.append(made(text))
        (tmp_path / f"{number:02}.litmus").write_text(text)
    verdicts = sorted(asked(Herd7(), tests, "rc11"), key=lambda v: v.test)
    files = sorted(path.name for path in tmp_path.iterdir())
    by_hand = subprocess.run(
        [need("herd7").path, "-model", str(models.resolve("rc11").path), *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = parse_verdicts(by_hand.stdout)
    assert len(expected) == len(tests)
    assert _untimed(format_verdicts(verdicts)) == _untimed(format_verdicts(expected))


def _untimed(log: str) -> list[str]:
    return [line for line in log.splitlines() if not line.startswith("Time ")]
