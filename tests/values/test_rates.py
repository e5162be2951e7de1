"""Intervals of rates have the published bounds, and are wider where hits come in clusters."""

from __future__ import annotations

import pytest

from weakspot.harness.values.rates import equal_rates_p, rate


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17, 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_an_interval_has_the_published_bounds(
    hits: int, runs: int, low: float, high: float
) -> None:
    found = rate(hits, runs)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_an_interval_contains_its_rate_and_stays_within_zero_and_one() -> None:
    for runs in (1, 10, 10**9):
        for hits in (0, 1, runs // 2, runs):
            found = rate(hits, runs)
            assert 0 <= found.low <= found.value <= found.high <= 1


def test_clustered_hits_have_a_wider_interval_around_the_same_rate() -> None:
    alone, clustered = rate(4000, 10**6, 4000), rate(4000, 10**6, 40)
    assert clustered.value == alone.value
    assert clustered.low < alone.low < alone.high < clustered.high
    assert rate(4000, 10**6) == alone
    assert rate(0, 10**6, 0) == rate(0, 10**6)


def test_equal_counts_do_not_differ_and_far_ones_do() -> None:
    assert equal_rates_p((100, 100), (1000, 1000)) == pytest.approx(1)
    assert equal_rates_p((100, 10), (1000, 1000)) < 1e-12
