"""The enumeration against trying everything, on properties drawn at random."""

from __future__ import annotations

import itertools
import random

import pytest

from weakspot.harness.edits.strength import Assignment, allowed, below, cost
from weakspot.harness.orders.trials import minimal

OPERATIONS = ("R", "W", "RMW", "F", "CAS")
KINDS = (*OPERATIONS, "C CAS", *(f"kernel {each}" for each in OPERATIONS))


def drawn(seed: int) -> tuple[list[str], list[Assignment]]:
    """The kinds of some annotations, and assignments of which each fails with all below it."""
    draw = random.Random(seed)
    kinds = [draw.choice(KINDS) for _ in range(draw.randint(1, 3))]
    failing = [
        tuple(draw.choice(allowed(kind)) for kind in kinds) for _ in range(draw.randint(0, 5))
    ]
    return kinds, failing


@pytest.mark.parametrize("seed", range(100))
def test_all_minimal_assignments_are_found_and_no_others(seed: int) -> None:
    kinds, failing = drawn(seed)
    asked: list[Assignment] = []

    def fails(tried: Assignment) -> Assignment | None:
        asked.append(tried)
        return next((each for each in failing if below(tried, each)), None)

    def rank(tried: Assignment) -> int:
        return sum(map(cost, kinds, tried))

    found = list(minimal([allowed(kind) for kind in kinds], fails, rank))
    every = itertools.product(*(allowed(kind) for kind in kinds))
    enough = [each for each in every if not any(below(each, one) for one in failing)]
    least = {each for each in enough if not any(one != each and below(one, each) for one in enough)}
    assert set(found) == least
    assert len(found) == len(least)
    assert len(asked) == len(set(asked)) <= len(least) + len(failing)
    # and always in one order
    order = [(rank(each), each) for each in found]
    assert order == sorted(order)
