"""Final states of a test, compared across tools that spell names and numbers differently."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

State = dict[str, str]
"""Values by name, in herd7's notation: `0:r0` is a register of thread 0, `[x]` a location."""


def state_text(state: State) -> str:
    """`0:r0=1 [x]=2`, in the order of the state."""
    return " ".join(f"{name}={value}" for name, value in state.items())


def location(name: str) -> str:
    """The key of a location in a State: `x` becomes `[x]`; registers and array elements stay."""
    return f"[{name}]" if re.fullmatch(r"[A-Za-z_$%][\w$%.]*", name) else name


def normalized(state: State) -> State:
    """The state with one spelling per name and value: `[x]` as `x`, `0x1` as `1`."""
    found = {}
    for name, value in state.items():
        with contextlib.suppress(ValueError):
            value = str(int(value, 0))
        found[name.strip("[]")] = value
    return found


def within(state: State, allowed: Sequence[State]) -> bool:
    """Whether an allowed state has the same value for every variable that both states name."""
    seen = normalized(state)
    for other in map(normalized, allowed):
        common = seen.keys() & other.keys()
        if not common or all(seen[name] == other[name] for name in common):
            return True
    return False
