"""The content of a structure's claims.toml: scenarios, claims, weakest memory orders."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.verdict import Observation

Explored = Literal[
    "Safe",
    "Violated: assertion",
    "Violated: race",
    "Violated: hang",
    "Violated: uninitialised",
    "Violated: memory",
    "Violated: lock",
    "Violated: flag",
    "Unknown",
]
"""The recorded result of exploring a program; a violation of that kind is among those found."""


def is_violation(expected: Explored) -> bool:
    """Whether a violation is recorded."""
    return expected not in ("Safe", "Unknown")


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program of the structure: `file` in its folder, compiled with `defines` and linked with the
    other `sources`. Its critical cycles through at most `cycles` threads become litmus tests, none
    if that is 0. A `large` program is left out by `relax`, which would explore it many times."""

    name: str
    file: str
    defines: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    about: str = ""
    cycles: int = 3
    large: bool = False


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody claims about a structure, and what is true.

    `says` is the claim, `where` its source. What is true is either the `verdict` of a `test`, by
    model, with `seen`, the kinds of machine whose hardware shows the test's outcome; or the result
    of exploring the scenario, `explored`, by model. `machines` is that under models of machines,
    compared where the user asks for such a model.
    """

    where: str
    says: str
    scenario: str = ""  # may be empty for a test written by hand
    test: str = ""
    verdict: dict[str, Observation] = {}
    seen: tuple[str, ...] = ()
    explored: dict[str, Explored] = {}
    machines: dict[str, Explored] = {}


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of the source that no scenario notices, besides those of memory orders for which a
    weaker one is recorded: file and line, the operation, how it is changed, as `weakspot mutate`
    prints it, and why nothing notices."""

    at: str
    operation: str
    change: str
    why: str


class WeakestOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An annotation and the weakest memory orders that suffice there.

    `at` is file, line and column; `written` is the memory order in the source; `weakest` has one
    per minimal assignment; `why` says for each what goes wrong with a weaker one, and is empty for
    the weakest of all.
    """

    at: str
    operation: str
    function: str
    written: str
    weakest: tuple[str, ...]
    why: tuple[str, ...]


class Weakest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weakest memory orders that suffice for these scenarios together under a model."""

    model: str
    scenarios: tuple[str, ...]
    orders: tuple[WeakestOrder, ...]
