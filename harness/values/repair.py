"""A repair of a program: which memory orders to strengthen."""

from __future__ import annotations

import msgspec

from weakspot.harness.values.witness import Execution

ELSEWHERE = "(another execution shows why)"
"""What is added to a need of a repair if the finding's execution has no such access."""


class Need(msgspec.Struct, frozen=True):
    """What a repair asks `at` an annotation, queue.h:15: `order`, at least release under rc20."""

    at: str
    order: str

    def __str__(self) -> str:
        return f"{self.at} needs {self.order}"


class SuggestedRepair(msgspec.Struct, frozen=True, kw_only=True):
    """The memory orders with which a program that is violated under a model is safe, as a sentence:
    empty if there is none, or if the search was `out_of_time`. If the `changes` are several,
    `executions` shows for each what goes wrong where only the others are made; None if that was not
    found."""

    program: str
    model: str
    fix: str = ""
    changes: tuple[Need, ...] = ()
    executions: tuple[Execution | None, ...] = ()
    out_of_time: bool = False
