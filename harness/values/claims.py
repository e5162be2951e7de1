"""What a structure's claims.toml records, as values: scenarios, claims, weakest orders."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.verdict import Observation

#: machines that a claim can name, in Python's words (platform.machine())
#: what exploring a program gives; a violation of that kind is among those found
Explored = Literal[
    "Safe",
    "Violated: assertion",
    "Violated: race",
    "Violated: hang",
    "Violated: uninitialised",
    "Violated: memory",
    "Violated: lock",
    "Unknown",
]


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program of the structure: `file` in its folder, compiled with `defines`."""

    name: str
    file: str
    defines: tuple[str, ...] = ()
    about: str = ""


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody says of a structure, and what is true.

    `says` is the claim, `where` the place it is made. What is true is either, by model, the
    `verdict` of a `test`, with `seen`, the kinds of machine whose hardware shows the test's
    outcome; or, by model, what the scenario is when it is `explored`.
    """

    where: str
    says: str
    scenario: str = ""  # may be empty for a test written by hand
    test: str = ""
    verdict: dict[str, Observation] = {}
    seen: tuple[str, ...] = ()
    explored: dict[str, Explored] = {}


class WeakestOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An annotation: `at` is file, line and column; the order that is `written` there; `weakest`
    are those that suffice, one for each minimal assignment; `why` says of each what breaks below
    it, and is empty where it is the weakest that there is."""

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
