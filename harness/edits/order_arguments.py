"""Memory orders that a function takes as an argument: the project's own wrappers of operations.

In: the site of an operation and the text of the sources. Out: the call whose argument the memory
order is. The order is written there, and only there can it be changed for this call alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from weakspot.generators.litmus import Site, of_library

_ARGUMENT = re.compile(r"[\w.:>-]+\s*\(")
_PARAMETERS = (
    r"[(,<]\s*(?:const\s+)?(?:std\s*::\s*)?memory_order\s+%s\b",
    r"[(,]\s*%s\s*:\s*(?:\w+\s*::\s*)*Ordering\b",
)
_MOST = 16
"""Nested wrappers that are followed."""


class SourceText:
    """The content of a file, one character per byte, and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]


def written_at(site: Site, source: Callable[[str], SourceText]) -> Site:
    """The site, or the call through which it gets its memory order; its `chain` is the rest.
    `source` reads a file as sites name it."""
    for _ in range(_MOST):
        if not site.chain or not _takes_order(source(site.file), site.line, site.column):
            break
        caller, _, place = site.chain[0].partition("@")
        file, line, column = place.rsplit(":", 2)
        if of_library(file):  # the library calls it
            break
        site = msgspec.structs.replace(
            site,
            file=file,
            line=int(line),
            column=int(column),
            function=caller,
            chain=site.chain[1:],
        )
    return site


def _takes_order(source: SourceText, line: int, column: int) -> bool:
    """Whether an argument of the call at a position is a parameter of type memory_order, or
    Ordering in Rust."""
    if not 0 < line <= len(source.starts):
        return False
    begin = source.starts[line - 1] + max(column, 1) - 1
    call = _ARGUMENT.match(source.text, begin)
    if call is None:
        return False
    return any(
        re.search(parameter % name, source.text[:begin])
        for name in _names(source.text, call.end())
        for parameter in _PARAMETERS
    )


def _names(text: str, begin: int) -> list[str]:
    """The arguments from a position up to the closing parenthesis that are a name alone."""
    depth, found, start = 0, [], begin
    for at in range(begin, len(text)):
        match text[at]:
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}" if depth:
                depth -= 1
            case ")" | "," | "]" | "}" if not depth:
                found.append(text[start:at].strip())
                start = at + 1
                if text[at] != ",":
                    break
    return [each for each in found if re.fullmatch(r"[A-Za-z_]\w*", each)]
