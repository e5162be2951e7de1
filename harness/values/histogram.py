"""Histogram: how often a runner observed each outcome of a Test on a Machine.

Its JSON form is a contract (`--json`, and the lines of a campaign's histograms.jsonl).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.state import State

INTERRUPTED = "interrupted"
"""What ended a measurement early that Ctrl-C ended."""


class Count(msgspec.Struct, frozen=True):
    """How often a state was observed."""

    state: State
    count: int


class ControlTest(msgspec.Struct, frozen=True, kw_only=True):
    """A variant of a test that was run with it, by the same runner under the same settings.

    A "fenced" variant has all fences and may show interleavings only; `wrong` names a state that
    is not one. A "weaker" variant lacks one memory order; `missed` is the probability that the
    test would not have been observed in its number of runs if its outcome were as likely as this
    variant's under each setting of the runner, None if the variant was not observed.
    """

    kind: Literal["fenced", "weaker"]
    change: str  # how the variant differs from the test
    target: int
    target_independent: int
    iterations: int
    missed: float | None = None
    wrong: str = ""


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome counts of a Test on a Machine.

    `target` counts the iterations whose state satisfies the condition's proposition;
    `target_independent` counts how many of these come from different episodes, None if the runner
    does not distinguish them. `emulated` marks a machine that is not real hardware. `control_tests`
    show what the counts, or their absence, prove.
    """

    test: str
    machine: str
    runner: str
    histogram: tuple[Count, ...]
    target: int
    iterations: int
    seconds: float
    target_independent: int | None = None
    condition: str = ""
    arch: str = ""
    emulated: bool = False
    parameters: dict[str, str] = {}
    sites: tuple[str, ...] = ()
    reason: str = ""  # why there is no histogram, if there is none
    lost: bool = False  # the machine became unreachable during the run: run the test again
    hash: str = ""  # litmus7's digest of the parsed test, equal to herd7's
    control_tests: tuple[ControlTest, ...] = ()
