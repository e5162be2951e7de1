"""Comments in sources that silence findings with a reason, as clang-tidy's NOLINT does.

    counter++;  // weakspot: allow WS102 because the value is only shown in a log
    /* weakspot: allow WS102, WS101 because nobody reads it before the join */
    counter++;

A comment applies to the findings that have a site on its line; one that is alone on its line, to
those on the next line. In: the text of a source. Out: its suppressions, and the comments that
start with `weakspot:` but cannot be understood, which are errors.
"""

from __future__ import annotations

import re

import msgspec

from weakspot.harness.judge.kinds import KINDS

FORM = "write `weakspot: allow WS102 because REASON`"

# comments, and before them in this order: raw strings, words and numbers, whose parts may look like
# the beginning of a character constant, and quoted texts
_TOKEN = re.compile(
    r"(?P<line>//(?:\\\r?\n|[^\n])*)|(?P<block>/\*.*?(?:\*/|\Z))"
    r'|(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r"|[A-Za-z_]\w*|\d[\w'.]*"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_ALLOW = re.compile(r"allow\b\s*(?P<ids>.*?)\s*(?:\bbecause\b\s*(?P<reason>.*))?", re.DOTALL)


class Suppression(msgspec.Struct, frozen=True):
    """A comment at `line` and `column`, which allows findings with these ids on the line `at`."""

    line: int
    column: int
    at: int
    ids: tuple[str, ...]
    reason: str


class InvalidComment(msgspec.Struct, frozen=True):
    """A comment that starts with `weakspot:` and cannot be understood."""

    line: int
    column: int
    message: str
    advice: str


def suppressions(
    text: str, refused: tuple[str, ...] = ()
) -> tuple[list[Suppression], list[InvalidComment]]:
    """The comments of a C or C++ source; findings with a `refused` id cannot be allowed."""
    found: list[Suppression] = []
    invalid: list[InvalidComment] = []
    for match in _TOKEN.finditer(text) if "weakspot:" in text else ():
        comment = match["line"] or match["block"]
        if comment is None:
            continue
        words = " ".join(comment[2:].removesuffix("*/" if match["block"] else "").split())
        if not words.startswith("weakspot:"):
            continue
        begin = text.rfind("\n", 0, match.start()) + 1
        line, column = text.count("\n", 0, begin) + 1, match.start() - begin + 1
        last = text.count("\n", 0, match.end()) + 1
        rest = text[match.end() :].partition("\n")[0]
        alone = not text[begin : match.start()].strip() and not rest.strip()
        allow = _ALLOW.fullmatch(words.removeprefix("weakspot:").strip())
        ids = tuple(filter(None, re.split(r"[\s,]+", allow["ids"]))) if allow else ()
        unknown = [each for each in ids if each not in KINDS]
        if allow is None or not ids:
            why, advice = "this comment is not understood", FORM
        elif unknown:
            why = f"unknown finding {unknown[0]}"
            advice = f"the ids are {', '.join(each for each in KINDS if each not in refused)}"
        elif never := [each for each in ids if each in refused]:
            why, advice = f"{never[0]} cannot be allowed", "correct what it is about"
        elif not allow["reason"]:
            why, advice = "the reason is missing", FORM
        else:
            at = last + 1 if alone else line
            found.append(Suppression(line, column, at, ids, allow["reason"]))
            continue
        invalid.append(InvalidComment(line, column, why, advice))
    return found, invalid
