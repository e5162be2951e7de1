"""Rates as bars: each on a linear and on a logarithmic axis, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded, scientific
from weakspot.harness.values.rates import LEVEL, Rate, rate


class Span(msgspec.Struct, frozen=True):
    """A rate on an axis from 0 to 100, and the ends of its interval."""

    at: float
    low: float
    high: float


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A rate that is drawn. `is_forbidden` is set if a model that applies to the machine forbids
    what was counted."""

    rate: Rate
    linear: Span
    logarithmic: Span
    is_forbidden: bool = False

    @property
    def hits(self) -> str:
        return f"{self.rate.hits:,}"

    @property
    def text(self) -> str:
        """`3.4·10⁻⁴`; without a hit, the bound"""
        if self.rate.hits:
            return scientific(self.rate.value)
        return f"below {scientific(self.rate.high)}"

    @property
    def title(self) -> str:
        interval = f"{scientific(self.rate.low)} to {scientific(self.rate.high)}"
        if not self.rate.hits:
            interval = f"0 to {scientific(self.rate.high)}"
        return (
            f"{self.rate.hits:,} of {rounded(self.rate.runs)} iterations; "
            f"{LEVEL:.0%} interval of the rate: {interval}".replace("%", " %")
        )


class Axis(msgspec.Struct, frozen=True):
    """The logarithmic axis of several bars: from 10 to the power of -`decades` to 1. The linear
    one ends at `top`."""

    decades: int
    top: float = 1.0

    @property
    def grid(self) -> tuple[float, ...]:
        """Where the powers of ten are."""
        return tuple(round(100 * at / self.decades, 2) for at in range(1, self.decades))

    @property
    def lowest(self) -> str:
        return scientific(10.0**-self.decades).removeprefix("1·")

    @property
    def highest(self) -> str:
        return scientific(self.top) if self.top < 1 else "1"

    def bar(self, of: Rate, *, is_forbidden: bool = False) -> Bar:
        """The rate's bar; one in as many runs as possible is still visible."""
        return Bar(
            rate=of,
            linear=Span(*(self._linear(each) for each in (of.value, of.low, of.high))),
            logarithmic=Span(*(self._logarithmic(each) for each in (of.value, of.low, of.high))),
            is_forbidden=is_forbidden,
        )

    def _linear(self, value: float) -> float:
        return round(100 * min(1.0, value / self.top), 2)

    def _logarithmic(self, value: float) -> float:
        if value <= 0:
            return 0.0
        return round(min(100.0, max(1.0, 100 * (1 + math.log10(value) / self.decades))), 2)


def axis(rates: Iterable[Rate], *, to_one: bool = True) -> Axis:
    """The axis for these rates; the linear one ends at 1 or at the largest rate."""
    those = list(rates)
    most = max((each.runs for each in those), default=10)
    largest = max((each.value for each in those), default=0.0)
    return Axis(
        decades=max(2, math.ceil(math.log10(most))), top=1.0 if to_one or not largest else largest
    )


def target_rate(histogram: Histogram) -> Rate | None:
    """How often the outcome of the test's condition was observed; None for a test without runs."""
    if not histogram.iterations:
        return None
    return rate(histogram.target, histogram.iterations, histogram.target_independent)
