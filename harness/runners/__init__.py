"""Runners: each runs Tests on a Machine and counts the outcomes.

In: Tests and a Machine. Out: Histograms. To add a runner, add a file NAME.py that defines RUNNER, a
value with what `Runner` asks for. Nothing else names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.machines import Machine
from weakspot.harness.values.histogram import Histogram
from weakspot.system.deadline import NEVER, Deadline, ending
from weakspot.system.registry import Registry, ToolEntry


class Runner(ToolEntry, Protocol):
    """What every runner offers. Where one with `whole_programs` runs tests, the programs that they
    come from are run as a whole too (whole_programs.py)."""

    @property
    def whole_programs(self) -> bool: ...

    def available(self, machine: Machine) -> str:
        """ "" if tests can be run on the machine, else what is missing, in one phrase."""
        ...

    def run(
        self,
        tests: Sequence[Test],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline = NEVER,
    ) -> None:
        """Run each test for about `seconds`, without the time of compiling; for less where the
        tests would not end at `end` otherwise, compiling included.

        `done` is called once per test, in the caller's thread, as soon as it has run. A test that
        could not be run has an empty Histogram whose reason says why. Raises MissingTool,
        ToolFailed, and Lost for a machine that is gone: what it was running was handed to `done` as
        lost then, what comes after it was not.
        """
        ...


TOO_LATE = "the time limit was reached before it ran"
"""Why a test or program was not run."""

#: seconds of a test or program beyond those that it runs: to start programs, to compile
_EXTRA = 1.0


class RunLimits(msgspec.Struct, frozen=True):
    """How long each test and program runs: `seconds`. `limited`: they and their compilers take a
    second more for each at most. `budget`: seconds for everything on a machine, in which each may
    run for a shorter time; 0 if there is no limit."""

    seconds: float
    limited: bool = False
    budget: float = 0.0

    def end(self, count: int) -> Deadline:
        """When the last of so many tests or programs must have ended."""
        return ending(count * (self.seconds + _EXTRA)) if self.limited else NEVER


def share(seconds: float, end: Deadline, remaining: int) -> float:
    """How long the next of so many tests or programs runs: `seconds`, or less if they would not end
    at `end` otherwise, but half of what is left for each."""
    each = end.left / remaining
    return min(seconds, max(each - _EXTRA, each / 2))


RUNNERS: Registry[Runner] = Registry(
    "runner",
    __name__,
    "RUNNER",
    others=("measurement", "programs", "steadiness", "tuning", "whole_programs"),
)
"""The runners by name."""


def histogram_of(test: Test, machine: Machine, runner: str, **found: Any) -> Histogram:
    """The histogram of a test that ran on a machine, with what was `found` there."""
    about = {
        "test": test.name,
        "machine": machine.name,
        "runner": runner,
        "condition": test.condition,
        "arch": machine.arch,
        "emulated": machine.emulated,
        "sites": test.sites,
    }
    return Histogram(**{**about, **found})


def not_run(
    test: Test, machine: Machine, runner: str, reason: str, *, lost: bool = False
) -> Histogram:
    """The histogram of a test that could not be run; `lost`: this time."""
    nothing = {"histogram": (), "target": 0, "iterations": 0, "seconds": 0.0}
    reason = " ".join(reason.split())
    return histogram_of(test, machine, runner, **nothing, reason=reason, lost=lost)
