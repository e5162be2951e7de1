"""The text of a header without what a parser that lacks a preprocessor does not understand: what is
inside functions, which often has macros there, and conditions in the middle of a declaration.

In and out: a C or C++ source, whose lines and columns stay as they are. Of a condition inside of a
function or of a declaration, the first part is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    rb"""(?P<ignored>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\b'|'(?:\\.|[^'\\\n])*')
    |(?P<directive>^[ \t]*\#[ \t]*(?P<word>\w*)(?:\\\n|[^\n])*)
    |(?P<mark>[{};])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ACCESS = re.compile(rb"\s*(?:public|protected|private)\s*:")
_ATTRIBUTE = re.compile(rb"\b(?:alignas|__attribute__)\s*\((?:[^()]|\([^()]*\)|\(\(.*?\)\))*\)")
_TEMPLATE = re.compile(rb"\s*template\s*<[^(){};]*>\s*(?=class|struct|union)")
_SCOPE = re.compile(
    rb"\s*(?:typedef\s+)?(?:class|struct|union|enum|namespace|extern)\b(?!.*\)\s*(?:[A-Z_]+|const|"
    rb"noexcept|override|final|\s)*$)",
    re.DOTALL,
)
"""What begins like a class, and does not end like the head of a function."""


def only_declarations(source: bytes) -> bytes:
    """The source, with blanks instead of what is not understood."""
    blank = bytearray(source)
    for start, end in _unread(source):
        blank[start:end] = re.sub(rb"[^\n]", b" ", source[start:end])
    return bytes(blank)


def _unread(source: bytes) -> Iterator[tuple[int, int]]:
    """What is not understood, as pairs of beginning and end."""
    head = b""  # of the declaration that is read
    body = depth = 0  # where the body of a function begins, and the braces that are open
    skipped = part = 0  # conditions that are open in a part that is not read, and where it begins
    conditions: list[tuple[int, int] | None] = []  # that are open, None for one that is left out
    at = 0
    for token in _TOKEN.finditer(source):
        if not depth and not skipped:
            head = _ACCESS.sub(b"", head + source[at : token.start()])
        at = token.end()
        word, inside = token["word"] or b"", depth or _is_unfinished(head)
        if skipped:
            skipped += word.startswith(b"if") - (word == b"endif")
            if not skipped:
                yield part, at
        elif word.startswith(b"if"):
            conditions.append(None if inside else token.span())
            if inside:
                yield token.span()
        elif word.startswith(b"el") and inside:
            skipped, part = 1, token.start()
            if conditions and (start := conditions.pop()) is not None:
                yield start
        elif word == b"endif" and conditions:
            start = conditions.pop()
            if inside or start is None:
                yield token.span()
                yield from () if start is None else (start,)
        if token["mark"] is None or skipped:
            continue
        match token["mark"], depth:
            case (b"{", 0) if _is_function(head):
                body, depth = at, 1
            case (b"{", 0) | (b"}", 0) | (b";", 0):
                head = b""
            case (b"{", _):
                depth += 1
            case (b"}", 1):
                depth = 0
                yield body, at - 1
                # the braces may initialise a member of a constructor
                if not re.match(rb"\s*[,{]", source[at:]):
                    head = b""
            case (b"}", _):
                depth -= 1


def _is_unfinished(head: bytes) -> bool:
    """Whether a condition stands in the middle of a declaration, not at its beginning or within the
    parameters of its template."""
    rest = re.sub(rb"^\s*template\s*<[^<>]*>\s*", b"", head)
    return bool(rest.strip()) and head.count(b"<") == head.count(b">")


def _is_function(head: bytes) -> bool:
    """Whether a brace begins the body of a function, after this text."""
    head = _TEMPLATE.sub(b"", _ATTRIBUTE.sub(b"", head))
    return b"(" in head and not _SCOPE.match(head)
