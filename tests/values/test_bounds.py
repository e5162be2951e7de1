"""Limits of explorations are checked where they are made."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from weakspot.errors import BadInput
from weakspot.harness.values.bounds import LIMITS, MOST_DEPARTURES, Bounds, Limit, Part
from weakspot.harness.values.record import Plan


@pytest.mark.parametrize(
    "limit", [each for each in LIMITS.values() if each.most is not None], ids=lambda each: each.name
)
def test_a_number_out_of_range_is_refused_and_named(limit: Limit) -> None:
    name, least, most = limit.name, limit.least, limit.most
    assert most is not None
    for number in (least, most):
        assert getattr(msgspec.structs.replace(Bounds(), **{name: number}), name) == number
    for number in (least - 1, most + 1):
        with pytest.raises(BadInput, match=f"{name} is {number}; it must be from {least} to"):
            msgspec.structs.replace(Bounds(), **{name: number})


def test_a_time_that_is_no_time_is_refused() -> None:
    for seconds in (-1.0, float("nan"), float("inf")):
        with pytest.raises(BadInput, match="seconds is"):
            Bounds(seconds=seconds)


@pytest.mark.parametrize(
    "what",
    [
        {"sample": True, "estimate": True},
        {"departures": 0, "reference": True},
        {"departures": MOST_DEPARTURES + 1},
        {"seed": -1},
        {"weak_failures": "twice"},
    ],
)
def test_a_part_that_makes_no_sense_is_refused(what: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=next(iter(what))):
        Part(**what)


def test_a_plan_is_read_in_the_form_that_campaigns_have_stored() -> None:
    stored = (
        b'{"what":["a"],"seconds_check":20.0,"seconds_run":1.0,"budget":0.0,"loops":2,'
        b'"executions":0,"seconds_explore":3.0,"events":4096,"instructions":2000000,"calls":200}'
    )
    plan = Plan(what=("a",)).within(Bounds(loops=2, seconds=3.0))
    assert msgspec.json.decode(stored, type=Plan) == plan
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
    assert (plan.bounds.loops, plan.bounds.seconds) == (2, 3.0)
