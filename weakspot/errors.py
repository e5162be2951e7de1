"""Errors that a user can correct: bad input, a missing tool, a full disk.

One base class. Each error says what is wrong, where, and what to do about it; the command line
prints it on one screen and exits with code 2. `excerpt` and `marked_line` draw every source excerpt
of weakspot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from weakspot._engine import Problem


class WeakspotError(Exception):
    """An error that its user can correct.

    `message` says what is wrong; `place` is `file:line:column` or as much of it as is known;
    `excerpt` is the source line as the function `excerpt` draws it; `advice` says what to do.
    """

    def __init__(
        self,
        message: str,
        *,
        place: str | None = None,
        excerpt: str | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.excerpt = excerpt
        self.advice = advice

    def __str__(self) -> str:
        lines = [f"error: {self.message}"]
        if self.place:
            lines.append(f"  --> {self.place}")
        if self.excerpt:
            lines.append(self.excerpt)
        if self.advice:
            lines.append(f"help: {self.advice}")
        return "\n".join(lines)


class BadInput(WeakspotError):
    """A file or an argument that cannot be used as it is."""


class Unsupported(WeakspotError):
    """A construct of the source that weakspot does not model; never guessed at."""


class MissingTool(WeakspotError):
    """A program that the requested work needs is not installed."""


class ToolFailed(WeakspotError):
    """A program that was started did not do its work."""


class LimitReached(WeakspotError):
    """A time limit was reached before anything was known of what was asked."""


class Interrupted(WeakspotError):
    """Ctrl-C: a wish, not a failure. `message` says what is stored or printed."""


E = TypeVar("E", bound=WeakspotError)


def reported(
    problem: Problem,
    kind: type[E],
    message: str | None = None,
    *,
    source: Path | str | None = None,
    advice: str | None = None,
) -> E:
    """What the engine reports about a file, as an error of that kind.

    `message` and `advice` stand in for the engine's own; `source` is the file that it is about or
    its text, where it is not the file that the engine names.
    """
    file = str(source) if isinstance(source, Path) else problem["file"]
    text = Path(file) if source is None else source
    line, column = problem["line"], problem["column"]
    return kind(
        message or problem["message"],
        place=place_of(problem, file) or None,
        excerpt=excerpt(text, line, column, problem["length"]) if line else None,
        advice=problem["help"] or advice,
    )


def place_of(problem: Problem, file: str | None = None) -> str:
    """`file:line:column` of what the engine reports, or as much of it as is known."""
    numbers = (problem["line"], problem["column"])
    return ":".join(filter(None, (file or problem["file"], *(str(n) for n in numbers if n))))


def excerpt(source: Path | str, line: int, column: int = 0, length: int = 0) -> str | None:
    """`marked_line` for a line of a file or of a text; None if there is no such line."""
    text = line_of(source, line)
    return None if text is None else marked_line(text, line, column, length)


def marked_line(text: str, line: int, column: int = 0, length: int = 0, label: str = "") -> str:
    """Draw the text of a line with its number, and below it marks from the column on.

    Lines and columns count characters from 1. With `length` 0 the word at the column is marked;
    with `column` 0 nothing is. `label` is written beside the marks.
    """
    number = f"{line:>2}"
    margin = " " * len(number)
    lines = [f"{margin} |", f"{number} | {text.expandtabs(4)}".rstrip()]
    if column:
        before = " " * len(text[: column - 1].ljust(column - 1).expandtabs(4))
        word = re.match(r"\w*", text[column - 1 :])
        length = min(length or len(word[0] if word else ""), len(text) - column + 1)
        lines.append(f"{margin} | {before}{'^' * max(1, length)} {label}".rstrip())
    return "\n".join(lines)


def quoted(lines: Iterable[str]) -> str | None:
    """Lines that a program printed, for an error to show; None without any."""
    return "\n".join(f"   | {line}".rstrip() for line in lines) or None


def line_of(source: Path | str, line: int) -> str | None:
    """A line of a file or of a text; None when it has no such line."""
    if isinstance(source, Path):
        if not source.is_file():
            return None
        source = source.read_text(encoding="utf-8", errors="replace")
    lines = source.split("\n")
    return lines[line - 1].removesuffix("\r") if 0 < line <= len(lines) else None
