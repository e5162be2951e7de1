"""Programs that are measured against one another: whose turn it is, and what the differences say.

In a turn every program of a contest is measured once, one right after the other, and there and
back in the next, so that what drifts on the machine weighs on all alike. What counts is the
difference to the first of them within a turn: its median, with the interval that holds the true one
with at least 95 %, however the differences are distributed (Conover, Practical Nonparametric
Statistics, 3rd edition, 1999, section 3.2). Where it holds zero, there is only noise.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

P = TypeVar("P")
C = TypeVar("C", bound="Contest[Any]")

#: turns; of fewer there is no such interval
FEWEST = 6
_ENOUGH = 20  # turns of one that is measured against none


class Timing(msgspec.Struct, frozen=True):
    """Nanoseconds that an operation takes more than in the first program, and the interval that
    holds the true figure with 95 %; `run` is the same for a whole run; from so many `turns`."""

    ns: float
    low: float
    high: float
    run: float
    turns: int

    @property
    def is_noise(self) -> bool:
        return self.low <= 0 <= self.high


class Contest(Generic[P]):
    """Programs; the first is what the others are compared with."""

    def __init__(self, programs: Sequence[P]) -> None:
        self._programs = tuple(programs)
        self._turns: list[tuple[float, ...]] = []
        self.width = math.inf  # of the widest interval, in nanoseconds a run

    def __len__(self) -> int:
        """The turns so far."""
        return len(self._turns)

    def turn(self, measure: Callable[[P], float]) -> None:
        """Measure each, in nanoseconds a run. A turn that is cut short counts nothing."""
        back = -1 if len(self) % 2 else 1
        taken = [measure(program) for program in self._programs[::back]]
        self._turns.append(tuple(taken[::back]))
        found = [self.timing(place, 1) for place in range(1, len(self._programs))]
        self.width = max((one.high - one.low if one else math.inf for one in found), default=0.0)

    def typical(self) -> float | None:
        """What a run of the first takes."""
        return statistics.median(first for first, *_ in self._turns) if self._turns else None

    def timing(self, place: int, times: float) -> Timing | None:
        """Of the program at that place, which executes the operation so many times a run; None
        where there are too few turns, or no execution."""
        return timing([turn[place] - turn[0] for turn in self._turns], times) if times else None

    @property
    def is_done(self) -> bool:
        return len(self._programs) == 1 and len(self) >= _ENOUGH


def next_of(contests: Sequence[C], turn: int) -> C:
    """Whose turn it is: one that had the fewest, and every other time the one whose interval is
    widest, whether it holds zero or not."""
    fewest = min(map(len, contests))
    if turn % 2 and fewest >= FEWEST:
        return max(contests, key=lambda each: each.width)
    going = [each for each in contests if not each.is_done] or contests
    return min(going, key=len)


def timing(differences: Sequence[float], times: float) -> Timing | None:
    """The median with its interval, of an operation that each run executes so many times; None
    where there are too few."""
    cut = _cut(len(differences))
    if cut is None:
        return None
    found = sorted(differences)
    run = statistics.median(found)
    ns, low, high = (round(each / times, 2) for each in (run, found[cut], found[-1 - cut]))
    return Timing(ns, low, high, round(run, 2), len(found))


@functools.cache
def _cut(count: int) -> int | None:
    """How many of so many differences are outside of the interval on each side."""
    outside, ways = -1, 1  # of 2 ** count, that so many or fewer fall on one side of the median
    while 40 * ways <= 2**count:  # 2.5 %
        outside += 1
        ways += math.comb(count, outside + 1)
    return None if outside < 0 else outside
