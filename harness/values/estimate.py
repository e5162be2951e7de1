"""Estimate and Sample: what random executions of a program tell about all of them."""

from __future__ import annotations

import math

import msgspec

from weakspot.harness.values.numbers import percent, rounded
from weakspot.system.durations import duration_text


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """About how many executions there are: the mean of as many independent random `descents`, each
    unbiased, and the standard `error` of the mean. `seconds` is how long exploring them all takes
    at the rate that was measured; None if it was not."""

    executions: float
    error: float
    descents: int
    seconds: float | None = None


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """Executions drawn at random: how many `draws`, and how many `distinct` executions they show.
    `known` is the probability that a further draw shows one of these. `seed` repeats them."""

    draws: int
    distinct: int
    known: float
    seed: int


def describe_estimate(estimate: Estimate) -> str:
    """`about 1.5·10⁷ executions (standard error 18 %)`"""
    if not estimate.executions:
        return "no random descent ended in an execution"
    number = f"{rounded(round(estimate.executions))} executions"
    if math.isinf(estimate.error):
        return f"more than {number}"
    return f"about {number} (standard error {relative_error(estimate)})"


def describe_duration(estimate: Estimate) -> str:
    """`about 1.5·10⁷ executions (standard error 18 %), 2 min`"""
    time = f", {duration_text(estimate.seconds)}" if estimate.seconds is not None else ""
    return f"{describe_estimate(estimate)}{time}"


def relative_error(estimate: Estimate) -> str:
    """`18 %`"""
    return percent(estimate.error / estimate.executions)
