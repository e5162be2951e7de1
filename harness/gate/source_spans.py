"""From a line and a column of a file in the project to the word at that position."""

from __future__ import annotations

import re
from pathlib import Path

from weakspot.errors import line_of
from weakspot.harness.gate.outcome import SourceSpan

# a name with its namespaces, an operator of several characters, any other character
_WORD = re.compile(r"(?:::)?\w+(?:::\w+)*|[-+*/%&|^<>!=]+|.")


def source_span(
    root: Path, file: str, line: int, column: int = 0, *, function: str = "", does: str = ""
) -> SourceSpan:
    """The word at a position that a compiler reports, whose columns count bytes.

    `file` is relative to `root`.
    """
    text = line_of(root / file, line) or ""
    if not text.isascii() and column:
        column = len(text.encode()[: column - 1].decode(errors="ignore")) + 1
    match = _WORD.match(text, column - 1) if 0 < column <= len(text) else None
    return SourceSpan(
        file=file,
        line=line,
        column=column,
        end=match.end() + 1 if match else column + bool(column),
        text=text,
        function=function,
        does=does,
    )
