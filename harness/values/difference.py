"""Difference: in what two campaigns, or two logs, differ. Its JSON form is printed by `diff`."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.state import State

DifferenceKind = Literal[
    "finding", "exploration", "verdict", "code", "outcome", "rate", "run", "text", "setting"
]
Weight = Literal["changed", "open", "note"]
Question = tuple[str, str]
"""What is asked about, and how: `("SB", "rc20 engine")`."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that differs.

    `subject` is the test, program, machine or tool; `under` is how it was asked: the model and the
    checker, or the machine and the runner. `before` and `after` are the two answers, empty for
    none. `only_before` and `only_after` are the states that one of them has. `weight` is "changed"
    if one of the answers is no longer true, "open" if a question that was answered no longer is,
    and "note" for what is new or may explain others. `p` is the probability that two measurements
    of one rate differ at least as much, corrected for the number of rates that are compared; `hits`
    and `runs` are the two measurements.
    """

    kind: DifferenceKind
    subject: str
    before: str
    after: str
    under: str = ""
    weight: Weight = "changed"
    only_before: tuple[State, ...] = ()
    only_after: tuple[State, ...] = ()
    p: float | None = None
    hits: tuple[int, int] | None = None
    runs: tuple[int, int] | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two records. `compared` counts, for each kind, what both have;
    `missing` names what only one of them has, by kind: (only before, only after). `notes` say what
    could not be read."""

    before: str
    after: str
    differences: tuple[Difference, ...]
    compared: dict[DifferenceKind, int]
    missing: dict[DifferenceKind, tuple[tuple[str, ...], tuple[str, ...]]]
    notes: tuple[str, ...] = ()
