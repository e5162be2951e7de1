"""herd7 as a checker: what it says reaches us whole. What it promises as every checker does is in
test_deciders.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ended import execute
from texts import SB, asked, made

from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.values.condition import proposition
from weakspot.harness.values.herdlog import format_verdict, parse_verdicts
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
    by_hand = execute(
        need("herd7").path, "-model", str(models.resolve("rc11").path), *files, cwd=tmp_path
    ).printed(0)
    expected = parse_verdicts(by_hand)
    assert len(expected) == len(tests)
    assert _untimed("".join(map(format_verdict, verdicts))) == _untimed(
        "".join(map(format_verdict, expected))
    )


@pytest.mark.parametrize(
    "condition",
    [
        "0:r0=0 /\\ 1:r0=0 => x=2",
        "0:r0=0 => 1:r0=1 /\\ x=2",
        "0:r0=0 \\/ 1:r0=0 => x=2",
        "0:r0=0 => 1:r0=0 \\/ x=2",
        "0:r0=0 => x=2 => 1:r0=0",
        "not 0:r0=0 => 1:r0=0",
        "not 0:r0=0 /\\ 1:r0=0",
        "0:r0=0 /\\ 1:r0=0 \\/ x=1",
    ],
)
def test_operators_of_conditions_bind_as_in_herd7(condition: str) -> None:
    """Found by herd7, by the engine, and by the predicate that reports and runners use."""
    test = made(SB.partition("exists")[0] + f"exists ({condition})\n")
    (by_herd7,), (by_engine,) = asked(Herd7(), [test], "sc"), asked(Engine(), [test], "sc")
    assert by_engine.witnesses == by_herd7.witnesses
    assert by_engine.states == by_herd7.states
    holds = proposition(f"exists ({condition})")
    assert holds is not None
    fulfilled = sum(map(holds, by_herd7.states))
    assert by_herd7.witnesses is not None
    assert (fulfilled, len(by_herd7.states) - fulfilled) == by_herd7.witnesses


def _untimed(log: str) -> list[str]:
    return [line for line in log.splitlines() if not line.startswith("Time ")]
