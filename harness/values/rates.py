"""Rates of rare events: confidence intervals, and whether two rates differ.

An interval is Wilson's score interval (Journal of the American Statistical Association 22, 1927),
which keeps its level for rates close to 0, and for no hit at all. Hits of one episode of a runner
are not independent of one another. Where the runner counts the hits of different episodes, the
interval is that of a sample smaller by the ratio of the two counts, the design effect (Kish, Survey
Sampling, 1965).

Two rates are compared by the test of two Poisson rates that Gu, Ng, Tang, Schucany recommend for
its power and its size (Biometrical Journal 50, 2008, statistic W5: the difference of the square
roots, which Huffman, Applied Statistics 33, 1984, introduced).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import msgspec

LEVEL = 0.95
"""The confidence level of intervals."""

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


class Rate(msgspec.Struct, frozen=True):
    """`hits` in `runs` independent repetitions, and the interval of the rate at LEVEL."""

    hits: int
    runs: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.hits / self.runs


def rate(hits: int, runs: int, independent: int | None = None) -> Rate:
    """The rate of so many hits in so many runs, at least one. `independent` counts the hits of
    different episodes, None if that is not known."""
    effect = hits / independent if hits and independent else 1.0
    low, high = _wilson(hits / effect, runs / effect)
    return Rate(hits, runs, low, high)


def _wilson(hits: float, runs: float) -> tuple[float, float]:
    share, square = hits / runs, _Z * _Z
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    half = math.sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    half *= _Z / (1 + square / runs)
    low = middle - half if hits else 0.0
    high = middle + half if hits < runs else 1.0
    return max(0.0, low), min(1.0, high)


def equal_rates_p(hits: tuple[int, int], runs: tuple[int, int]) -> float:
    """The probability of two counts that differ at least as much, if their rates are equal."""
    (one, other), (first, second) = hits, runs
    ratio = first / second
    distance = math.sqrt(one + 3 / 8) - math.sqrt(ratio * (other + 3 / 8))
    return 2 * NormalDist().cdf(-2 * abs(distance) / math.sqrt(1 + ratio))
