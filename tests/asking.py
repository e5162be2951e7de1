"""Questions to a checker, for tests that are not about how its answers come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weakspot import _engine
from weakspot.generators.litmus import Test
from weakspot.harness.checkers import Checker
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict


def answers(
    tests: Sequence[str | tuple[str, str]],
    model: Path,
    *,
    folders: Sequence[str] = (),
    seconds: float = 60.0,
    candidates: int = 10**9,
    jobs: int = 0,
) -> list[_engine.AnswerDict]:
    """The engine's answers, in the order of the tests."""
    found: dict[int, _engine.AnswerDict] = {}
    _engine.check(
        tests,
        str(model),
        folders=folders,
        seconds=seconds,
        candidates=candidates,
        memory=2 << 30,
        done=lambda number, answer: found.__setitem__(number, answer.as_dict()),
        jobs=jobs,
    )
    return [found[number] for number in range(len(tests))]


def verdicts(
    tests: Sequence[Test], model: str, seconds: float = 60.0, checker: Checker | None = None
) -> dict[str, Verdict]:
    """The verdicts of a checker, by default the engine, by the names of the tests, which are all
    answered once."""
    found: list[Verdict] = []
    asked = checker or Engine(witnesses=False)
    asked.check(tests, models.resolve(model), seconds=seconds, done=found.append)
    assert sorted(v.test for v in found) == sorted(t.name for t in tests), "each test once"
    return {verdict.test: verdict for verdict in found}
