"""Final conditions of litmus tests in herd7's syntax, and the states that satisfy them.

condition := (exists | ~exists | forall) prop
prop      := atom | true | false | not prop | prop => prop | prop /\\ prop | prop \\/ prop
atom      := 0:r0=1 | [x]=1 | x=1 | x[0]=1     (also !=)

As in herd7, `not` binds tightest, then `=>`, which groups to the right, then `/\\`, then `\\/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from weakspot.harness.values.state import State

Quantifier = Literal["exists", "~exists", "forall"]
Proposition = Callable[[State], bool]

#: herd7's name for a test with such a condition
KIND: dict[Quantifier, str] = {"exists": "Allowed", "~exists": "Forbidden", "forall": "Required"}

_QUANTIFIER = re.compile(r"\s*(~\s*exists|exists|forall)\b")
_TOKEN = re.compile(
    r"\s*(?P<token>/\\|\\/|=>|!=|==|[=()~]|\[[^\]]*\]|[\w$%.+-]+(?:\s*:\s*[\w$%.]+)?(?:\[\d+\])?)"
)


class _Unreadable(Exception):
    pass


def quantifier(condition: str) -> Quantifier:
    """The quantifier of the condition; exists if it does not begin with one."""
    match = _QUANTIFIER.match(condition)
    found = re.sub(r"\s", "", match.group(1)) if match else "exists"
    return "~exists" if found == "~exists" else "forall" if found == "forall" else "exists"


@lru_cache(maxsize=4096)
def proposition(condition: str) -> Proposition | None:
    """The condition's proposition as a predicate on states; None if it uses something that is not
    supported here (faults, page tables, vectors)."""
    match = _QUANTIFIER.match(condition)
    text = condition[match.end() :] if match else condition
    tokens: list[str] = []
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if not found:
            return None
        tokens.append(re.sub(r"\s", "", found["token"]))
        at = found.end()
    try:
        result, rest = _disjunction(tokens)
    except _Unreadable:
        return None
    return result if not rest else None


def location(name: str) -> str:
    """The key of a location in a State: `x` becomes `[x]`; registers and array elements stay."""
    return f"[{name}]" if re.fullmatch(r"[A-Za-z_$%][\w$%.]*", name) else name


Parsed = tuple[Proposition, list[str]]


def _disjunction(tokens: list[str]) -> Parsed:
    left, rest = _conjunction(tokens)
    if rest[:1] == ["\\/"]:
        right, rest = _disjunction(rest[1:])
        return (lambda state: left(state) or right(state)), rest
    return left, rest


def _conjunction(tokens: list[str]) -> Parsed:
    left, rest = _implication(tokens)
    if rest[:1] == ["/\\"]:
        right, rest = _conjunction(rest[1:])
        return (lambda state: left(state) and right(state)), rest
    return left, rest


def _implication(tokens: list[str]) -> Parsed:
    left, rest = _negation(tokens)
    if rest[:1] == ["=>"]:
        right, rest = _implication(rest[1:])
        return (lambda state: not left(state) or right(state)), rest
    return left, rest


def _negation(tokens: list[str]) -> Parsed:
    if not tokens:
        raise _Unreadable
    first, rest = tokens[0], tokens[1:]
    if first in ("not", "~"):
        inner, rest = _negation(rest)
        return (lambda state: not inner(state)), rest
    if first == "(":
        inner, rest = _disjunction(rest)
        if rest[:1] != [")"]:
            raise _Unreadable
        return inner, rest[1:]
    if rest[:1] and rest[0] in ("=", "==", "!=") and len(rest) > 1:
        return _atom(location(first), rest[1], rest[0] != "!="), rest[2:]
    if first in ("true", "false"):
        return (lambda _: first == "true"), rest
    raise _Unreadable


def _atom(key: str, value: str, equal: bool) -> Proposition:
    wanted = _number(value)

    def holds(state: State) -> bool:
        return (_number(state[key]) == wanted) == equal

    return holds


def _number(value: str) -> int | str:
    try:
        return int(value, 0)
    except ValueError:
        return value
