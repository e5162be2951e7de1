"""Distinct values for the writes of a Test to a location: a value says which write it is from."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence


def distinct_values(ops: Sequence[str]) -> tuple[int, list[tuple[int, int]]]:
    """An initial value, and for each write in turn its operand and the value that it leaves, which
    no earlier one left."""
    initial = 255 if "fetch.and" in ops else 8 if "fetch.sub" in ops else 0
    # some bits to clear, some to set, and room for sums and differences
    mixed = 0b10101010
    for value in (mixed,) if {"fetch.and", "fetch.or"} <= {*ops} else (initial, mixed):
        used, left, written = {value}, value, []
        for op in ops:
            found = _write(op, left, used)
            if found is None:
                break
            written.append(found)
            left = found[1]
            used.add(left)
        else:
            return value, written
    raise AssertionError(f"no distinct values for {', '.join(op or 'a store' for op in ops)}")


def _write(op: str, value: int, used: set[int]) -> tuple[int, int] | None:
    """The operand of a write and the value that it leaves, which no earlier write to the location
    left, if there is one: the smallest for a sum, a difference or a bit, the largest for a mask; a
    store stays above the initial value, or below where there are bits to clear."""
    result = _RESULT.get(op)
    operands = range(1, 255)
    if op == "fetch.and" or (255 in used and op not in ("fetch.add", "fetch.sub")):
        operands = range(254, 0, -1)
    elif result is None:
        operands = range(max(used) + 1, 255)
    for operand in operands:
        left = result(value, operand) if result else operand
        if left >= 0 and left not in used:
            return operand, left
    return None


_RESULT: dict[str, Callable[[int, int], int]] = {
    "fetch.add": operator.add,
    "fetch.sub": operator.sub,
    "fetch.or": operator.or_,
    "fetch.xor": operator.xor,
    "fetch.and": operator.and_,
}
