"""Several explorations at once, each on one core, as long as they take little time.

An exploration uses every core, but compiles witnesses and starts its threads on one, which is most
of the time of a small program. So programs are explored side by side first, the largest ones first;
what takes longer than LITTLE is left for later, when it gets all cores.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from weakspot.harness.checkers.explorer import Done
from weakspot.harness.values.exploration import Exploration
from weakspot.system.process import Crew, in_parallel

LITTLE = 1.0
"""Seconds of an exploration on one core before it is left for later."""

Question = TypeVar("Question")


class _Later(Exception):
    """The exploration takes long, or nobody waits for it any more."""


def side_by_side(
    questions: Sequence[Question],
    explore: Callable[[Question, Done], Exploration],
    found: Callable[[Question, Exploration], None],
    *,
    cores: int,
) -> None:
    """Have `explore` answer the questions that take little time, in their order. `found` gets the
    answers in the caller's thread. Raises what `explore` raises, and KeyboardInterrupt."""

    def answer(
        question: Question, crew: Crew, put: Callable[[tuple[Question, Exploration]], None]
    ) -> None:
        end = time.monotonic() + LITTLE

        def watch(_: int, __: tuple[float, float] | None) -> None:
            if crew.ended or time.monotonic() > end:
                raise _Later

        with contextlib.suppress(_Later):
            put((question, explore(question, watch)))

    tasks = [partial(answer, each) for each in questions]
    in_parallel(tasks, workers=cores, done=lambda each: found(*each))
