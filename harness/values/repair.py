"""A repair of a program: which memory orders to strengthen."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from weakspot.harness.values.witness import Execution, shortest_at

ELSEWHERE = "(another execution shows why)"
"""What is added to a need of a repair if the finding's execution has no such access."""


class Need(msgspec.Struct, frozen=True):
    """What a repair asks `at` an annotation, queue.h:15: `order`, at least release under rc20. The
    annotation is in a `column` of a `function`, and belongs to what the operation `does`."""

    at: str
    order: str
    column: int = 0
    function: str = ""
    does: str = ""

    def __str__(self) -> str:
        return f"{self.at} needs {self.order}"


class SourceEdit(msgspec.Struct, frozen=True):
    """Lines of a file, and the text in their place: from `line` up to, but without, `end`."""

    file: str
    line: int
    end: int
    text: str


class SuggestedRepair(msgspec.Struct, frozen=True, kw_only=True):
    """The memory orders with which a program that is violated under a model is safe, as a sentence:
    empty if there is none, or if the search was `out_of_time`. If the `changes` are several,
    `executions` shows for each what goes wrong where only the others are made; None if that was not
    found. `edits` make them, in a project's files, and are empty where that is left to the user."""

    program: str
    model: str
    fix: str = ""
    changes: tuple[Need, ...] = ()
    executions: tuple[Execution | None, ...] = ()
    edits: tuple[SourceEdit, ...] = ()
    out_of_time: bool = False

    def unshown(
        self, shown: Execution | None, own: Iterable[Execution | None]
    ) -> dict[int, Execution | None]:
        """The changes, by number, of which the execution `shown` has no access, each with one that
        has: of the program's `own`, or one with all other changes."""
        return {
            number: shortest_at([*own, *self.executions[number : number + 1]], need.at)
            for number, need in enumerate(self.changes)
            if shown is not None and shortest_at([shown], need.at) is None
        }
