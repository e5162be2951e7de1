"""Questions to the engine itself, for tests that are not about how its answers come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weakspot import _engine


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
