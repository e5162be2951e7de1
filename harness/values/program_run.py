"""ProgramRun: how often a whole Program failed on a Machine."""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.harness.values.histogram import Count


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What failed in `count` instances of a program.

    `message` is the assertion, the signal of a crash, or the threads that do not end; `site` is
    its `file:line`, empty if it is not known; `values` are the values of the variables that the
    assertion names, with how often each combination was observed.
    """

    kind: Literal["assertion", "crash", "hang"]
    message: str
    count: int
    site: str = ""
    function: str = ""
    values: tuple[Count, ...] = ()


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of a Program's main on a Machine, `instances` in number, and those that failed.

    In `overlapped` of them all threads ran at the same time at least once. `emulated` marks a
    machine that is not real hardware. `ended_early` says what ended the run early; `reason` says
    why the program was not run.
    """

    program: str
    machine: str
    runner: str
    instances: int = 0
    overlapped: int = 0
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    arch: str = ""
    emulated: bool = False
    parameters: dict[str, str] = {}
    ended_early: str = ""
    reason: str = ""

    @property
    def failed(self) -> int:
        """The number of instances that failed."""
        return sum(each.count for each in self.failures)
