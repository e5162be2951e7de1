"""Final conditions of litmus tests in herd7's syntax, on states as herd7 and litmus7 print them.

The engine reads the conditions and the states (engine/litmus/src/printed.rs).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from weakspot.harness.values.state import State

if TYPE_CHECKING:
    from weakspot._engine import Quantifier

Proposition = Callable[[State], bool]
"""Whether a state satisfies a proposition; KeyError if it lacks a value for a name in it."""

#: herd7's name for a test with such a condition
KIND: dict[Quantifier, str] = {"exists": "Allowed", "~exists": "Forbidden", "forall": "Required"}


def quantifier(condition: str) -> Quantifier:
    """The quantifier of the condition; exists if it does not begin with one."""
    from weakspot import _engine

    return _engine.quantifier(condition)


@lru_cache(maxsize=4096)
def proposition(condition: str) -> Proposition | None:
    """The condition's proposition as a predicate on states; None if it uses something that is not
    supported here (faults, page tables, vectors)."""
    from weakspot import _engine

    try:
        return _engine.Condition(condition).holds
    except _engine.EngineError:
        return None


def satisfies(condition: str, state: State) -> bool:
    """Whether a state satisfies the condition's proposition; false if that cannot be evaluated."""
    holds = proposition(condition)
    try:
        return holds is not None and holds(state)
    except KeyError:
        return False
