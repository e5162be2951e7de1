"""Paired timing of programs: which are measured next, and what their differences show.

A round measures every program of a comparison once, one directly after the other, and the next
round in reverse order, so that drift of the machine affects all alike. The result is the median of
the differences to the first program within each round, with a confidence interval of at least 95 %
that assumes nothing about their distribution (Conover, Practical Nonparametric Statistics, 3rd
edition, 1999, section 3.2). If the interval contains zero, the difference is within the noise.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

P = TypeVar("P")
C = TypeVar("C", bound="Comparison[Any]")

#: rounds; fewer give no such interval
FEWEST = 6
_ENOUGH = 20  # rounds of a program that is compared with no other


class Timing(msgspec.Struct, frozen=True):
    """By how many nanoseconds an operation takes longer than in the first program, with its 95 %
    confidence interval; `run` is the difference of a whole run; `turns` is the number of rounds."""

    ns: float
    low: float
    high: float
    run: float
    turns: int

    @property
    def is_noise(self) -> bool:
        return self.low <= 0 <= self.high


class Comparison(Generic[P]):
    """Programs that are measured together; the others are compared with the first."""

    def __init__(self, programs: Sequence[P]) -> None:
        self._programs = tuple(programs)
        self._turns: list[tuple[float, ...]] = []
        self.width = math.inf  # of the widest interval, in nanoseconds per run

    def __len__(self) -> int:
        """The number of rounds so far."""
        return len(self._turns)

    def turn(self, measure: Callable[[P], float]) -> None:
        """Measure each program, in nanoseconds per run. An interrupted round does not count."""
        back = -1 if len(self) % 2 else 1
        taken = [measure(program) for program in self._programs[::back]]
        self._turns.append(tuple(taken[::back]))
        found = [self.timing(place, 1) for place in range(1, len(self._programs))]
        self.width = max((one.high - one.low if one else math.inf for one in found), default=0.0)

    def typical(self) -> float | None:
        """The median time of a run of the first program, in nanoseconds."""
        return statistics.median(first for first, *_ in self._turns) if self._turns else None

    def timing(self, place: int, times: float) -> Timing | None:
        """The timing of the program at that place, which executes the operation `times` times per
        run; None with too few rounds, or if it is never executed."""
        return timing([turn[place] - turn[0] for turn in self._turns], times) if times else None

    @property
    def is_done(self) -> bool:
        return len(self._programs) == 1 and len(self) >= _ENOUGH


def next_of(comparisons: Sequence[C], turn: int) -> C:
    """The comparison to measure next: one with the fewest rounds, and every other time the one with
    the widest interval."""
    fewest = min(map(len, comparisons))
    if turn % 2 and fewest >= FEWEST:
        return max(comparisons, key=lambda each: each.width)
    going = [each for each in comparisons if not each.is_done] or comparisons
    return min(going, key=len)


def timing(differences: Sequence[float], times: float) -> Timing | None:
    """The median and its confidence interval for an operation that each run executes `times`
    times; None with too few differences."""
    outside = _outside(len(differences))
    if outside is None:
        return None
    found = sorted(differences)
    run = statistics.median(found)
    ns, low, high = (round(each / times, 2) for each in (run, found[outside], found[-1 - outside]))
    return Timing(ns, low, high, round(run, 2), len(found))


@functools.cache
def _outside(count: int) -> int | None:
    """How many of `count` sorted differences lie outside the interval on each side."""
    outside, outcomes = -1, 1  # out of 2 ** count, with at most `outside` on one side of the median
    while 40 * outcomes <= 2**count:  # 2.5 %
        outside += 1
        outcomes += math.comb(count, outside + 1)
    return None if outside < 0 else outside
