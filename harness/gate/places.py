"""Places of the project: from a line and a column to what stands there."""

from __future__ import annotations

import re
from pathlib import Path

from weakspot.errors import line_of
from weakspot.harness.gate.outcome import Place

# a name with its namespaces, a sign of several characters, any other
_WORD = re.compile(r"(?:::)?\w+(?:::\w+)*|[-+*/%&|^<>!=]+|.")


def place(
    root: Path, file: str, line: int, column: int = 0, *, function: str = "", does: str = ""
) -> Place:
    """The word at that place of a file, which is relative to `root`; compilers count bytes."""
    text = line_of(root / file, line) or ""
    if not text.isascii() and column:
        column = len(text.encode()[: column - 1].decode(errors="ignore")) + 1
    match = _WORD.match(text, column - 1) if 0 < column <= len(text) else None
    return Place(
        file=file,
        line=line,
        column=column,
        end=match.end() + 1 if match else column + bool(column),
        text=text,
        function=function,
        does=does,
    )
