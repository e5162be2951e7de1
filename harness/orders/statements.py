"""Where the statements of a C or C++ source begin and end, as far as it takes to put a statement
before or after one of them.

A source is read a character a byte, without a compiler: braces, brackets and semicolons are
enough, once comments, literals and lines of the preprocessor are blanked. Where that does not tell,
there is no answer.
"""

from __future__ import annotations

import re

_PASSED_OVER = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
    re.S | re.M,
)
#: what a block's brace stands after; that of an initialiser stands after a name or `=`
_BEFORE_A_BLOCK = re.compile(r"(?:[])};{]|\b(?:else|do|try|const|mutable|noexcept))\s*$")
_NOT_TO_PART = re.compile(r"(?:else|for|do)\b")
_LABEL = re.compile(r"(?:case\b[^:;{}?]*|\w+)\s*:(?!:)\s*")
_LEAVES = re.compile(r"(?:return|continue|break|goto|throw)\b")


class Unclear(Exception):
    """Why there is no answer."""


def blanked(text: str) -> str:
    """The text with spaces for what is no code; every place stays where it is."""
    return _PASSED_OVER.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def begin(code: str, at: int) -> int:
    """Where the statement that `at` is in begins. Raises Unclear."""
    start = max(code.rfind(each, 0, at) for each in ";{}") + 1
    block = max(code.rfind(each, 0, start) for each in "{}") + 1
    before = code[:start]
    inside = code[block:start].count("(") - code[block:start].count(")")
    if inside or (before.endswith("{") and not _BEFORE_A_BLOCK.search(before[:-1])):
        raise Unclear("it is part of a longer statement")
    found = start + len(code[start:]) - len(code[start:].lstrip())
    while label := _LABEL.match(code, found, at):
        found = label.end()
    if _NOT_TO_PART.match(code, found):
        raise Unclear("it is part of a longer statement")
    return found


def after(code: str, at: int) -> int:
    """Where the first statement that runs after what stands at `at` begins: after the statement,
    after a loop whose condition it is, and of a condition that something leaves by, where it goes
    on. Raises Unclear."""
    start = begin(code, at)
    head = re.compile(r"(if|while)\s*\(").match(code, start)
    if head is None or (closed := _closing(code, head.end() - 1)) < at:
        if _LEAVES.match(code, start):
            raise Unclear("its statement is the last that runs there")
        return _end(code, start)
    end = _end(code, closed + 1)
    if head[1] == "while":
        return end
    body = code[closed + 1 : end]
    inner = body.strip().removeprefix("{").removesuffix("}").strip()
    last = re.split(r"[;{}]", inner.removesuffix(";"))[-1].strip()
    if re.compile(r"\s*else\b").match(code, end):
        raise Unclear("it decides between two branches")
    if _LEAVES.match(last):
        return end
    if body.lstrip().startswith("{"):
        return closed + 1 + body.index("{") + 1
    raise Unclear("it is the condition of a statement without braces")


def _end(code: str, start: int) -> int:
    """Where the statement that begins there, or a block, ends."""
    depth, at = 0, start
    while at < len(code):
        here = code[at]
        if here in "([{":
            depth += 1
        elif here in ")]}":
            depth -= 1
        if depth < 0:
            break
        block = here == "}" and code[start:].lstrip().startswith("{")
        if depth == 0 and (here == ";" or block):
            return at + 1
        at += 1
    raise Unclear("the statement does not end")


def _closing(code: str, opening: int) -> int:
    """Where the bracket that opens there is closed."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] == "(") - (code[at] == ")")
        if depth == 0:
            return at
    raise Unclear("a bracket is not closed")
