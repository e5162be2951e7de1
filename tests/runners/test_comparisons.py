"""What the differences of programs that are measured in turns say: a planted cost is found, none is
made up. The times are made here, but drift and jump as a machine's do."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable
from math import comb

from weakspot.harness.costs.comparisons import FEWEST, Comparison, Timing, next_of, timing


def machine(seed: int, noise: float = 3.0) -> Callable[[float], float]:
    """What programs take on a machine whose clock wanders between two rates, and that now and then
    gives their processor to others: a program that takes 100 ns more than `more`."""
    dice = random.Random(seed)
    wander, rate = 0.0, 1.0

    def run(more: float) -> float:
        nonlocal wander, rate
        wander = 0.9 * wander + dice.gauss(0, noise)
        if dice.random() < 0.05:
            rate = dice.choice((1.0, 1.25))
        lost = 4000.0 if dice.random() < 0.03 else 0.0
        return (100 + more) * rate + wander + dice.gauss(0, noise) + lost

    return run


def measured(costs: list[float], turns: int, run: Callable[[float], float]) -> Comparison[float]:
    comparison = Comparison(costs)
    for _ in range(turns):
        comparison.turn(run)
    return comparison


def found(comparison: Comparison[float], place: int = 1, times: float = 1) -> Timing:
    timing = comparison.timing(place, times)
    assert timing is not None
    return timing


def test_a_planted_cost_is_found_and_is_no_noise() -> None:
    held = 0
    for seed in range(200):
        comparison = measured([0.0, 7.0, 21.0], 40, machine(seed))
        seven, many = found(comparison), found(comparison, 2)
        assert not seven.is_noise
        assert not many.is_noise
        held += seven.low <= 7 * 1.25 and seven.high >= 7.0
    assert held >= 180, "19 of 20 hold the true figure, which is 7 or 8.75 by the clock"


def test_equal_programs_differ_only_by_noise() -> None:
    """In 19 of 20 cases, of 400; by chance fewer than 366 in one of a thousand tests."""
    noisy = sum(found(measured([0.0, 0.0], 40, machine(seed))).is_noise for seed in range(400))
    assert noisy >= 366


def test_drift_affects_all_programs_alike() -> None:
    """A machine that takes a nanosecond more each time it is asked."""
    clock = itertools.count()
    comparison = measured([0.0, 0.0, 5.0], 20, lambda more: 100 + more + next(clock))
    assert found(comparison).is_noise
    assert (found(comparison).ns, found(comparison, 2).ns) == (0.0, 5.0)


def test_an_operation_has_its_part_of_the_difference() -> None:
    comparison = measured([0.0, 9.0], 10, lambda more: 100 + more)
    assert found(comparison, times=3) == Timing(3.0, 3.0, 3.0, 9.0, 10)
    assert comparison.timing(1, 0) is None, "an operation that is not executed costs nothing"


def test_an_interrupted_turn_counts_nothing() -> None:
    comparison = measured([0.0, 9.0], 6, lambda more: 100 + more)
    before = found(comparison)

    def lost(more: float) -> float:
        raise IndexError if more else KeyError

    for _ in range(2):
        with contextlib.suppress(LookupError):
            comparison.turn(lost)
    assert (found(comparison), len(comparison)) == (before, 6)


def test_the_interval_holds_the_median_with_95_percent() -> None:
    """Of n differences the true median lies outside of [kth, (n-k+1)th] as often as fewer than k of
    n fair coins fall on one side."""
    assert timing([1.0, 2.0, 3.0, 4.0, 5.0], 1) is None
    for count in (*range(FEWEST, 40), 2000):
        holds = timing([float(each) for each in range(1, count + 1)], 1)
        assert holds is not None
        first = int(holds.low)
        assert holds.high == count + 1 - first
        missed = 2 * sum(comb(count, each) for each in range(first))
        narrower = 2 * sum(comb(count, each) for each in range(first + 1))
        assert 20 * missed <= 2**count < 20 * narrower
    whole = timing([3.0, -1.0, 2.0, 2.5, 1.0, 8.0], 1)
    assert whole == Timing(2.25, -1.0, 8.0, 2.25, 6)
    assert whole.is_noise


def test_the_comparison_with_the_widest_interval_has_the_next_turn() -> None:
    quiet, loud = machine(1, noise=0.1), machine(1, noise=30.0)
    comparisons = {name: Comparison([0.0, 5.0]) for name in ("quiet", "loud", "other")}
    alone = Comparison([0.0])
    everyone = [*comparisons.values(), alone]
    for turn in range(300):
        chosen = next_of(everyone, turn)
        if turn < len(everyone) * FEWEST:
            assert len(chosen) == min(map(len, everyone)), "first all have enough for an interval"
        chosen.turn(loud if chosen is comparisons["loud"] else quiet)
    assert len(comparisons["loud"]) > 2 * len(comparisons["quiet"])
    assert abs(len(comparisons["quiet"]) - len(comparisons["other"])) < 10
    assert len(alone) < len(comparisons["quiet"]), "nothing is compared with it"
    assert next_of([alone], 1) is alone
