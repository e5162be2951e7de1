"""What goes wrong outside weakspot: bad input, a missing tool, a full disk.

One base class. Each error says what is wrong, where, and what to do about it; the command
line prints it as one screen and exits with code 2.
"""

from __future__ import annotations

from pathlib import Path


class WeakspotError(Exception):
    """An error its user can mend.

    `message` says what is wrong; `place` is `file:line:column` or as much of it as is known;
    `excerpt` shows the line with a mark below it; `advice` says what to do.
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
            lines.extend(f"  | {line}" for line in self.excerpt.splitlines())
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


def excerpt(path: Path, line: int, column: int) -> str | None:
    """The line of a file with a mark below the column (0 when it is not known), for an error to
    show; None when the file has no such line."""
    text = line_of(path, line)
    if text is None:
        return None
    mark = " " * (column - 1) + "^" if column else ""
    return f"{text.expandtabs(4)}\n{mark}"


def line_of(path: Path, line: int) -> str | None:
    """The line of a file, None when it has no such line."""
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else None
