"""How a command reports what it is doing while it runs."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from weakspot.harness.values.record import Timing


class TimeLeft(NamedTuple):
    """The seconds that are left of a phase, those of jobs of which nothing is known not counted;
    whether there are no such jobs."""

    seconds: float
    complete: bool


Left = Callable[[], TimeLeft | None]
"""The time that is left when it is called; None if that is not known."""


class Progress(Protocol):
    """Receives the phases of a command."""

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        """A phase of `total` jobs begins; 0 if their number is not known."""

    def advance(self, count: int = 1) -> None:
        """`count` more jobs of the phase are done."""

    def at(self, text: str) -> None:
        """The job in progress, or how far it is."""

    def message(self, text: str) -> None:
        """A line to show to the user."""


class PausableProgress(Progress, Protocol):
    """Progress that makes way for what a command prints while it runs."""

    def pause(self) -> contextlib.AbstractContextManager[object]:
        """Something else is printed meanwhile."""


class Quiet:
    """Shows nothing."""

    def start(self, total: int, what: str, left: Left | None = None) -> None: ...

    def advance(self, count: int = 1) -> None: ...

    def at(self, text: str) -> None: ...

    def message(self, text: str) -> None: ...

    def pause(self) -> contextlib.AbstractContextManager[object]:
        return contextlib.nullcontext()


class Stopwatch:
    """Measures the phases, and passes everything on `to` another Progress."""

    def __init__(self, to: Progress) -> None:
        self.to, self._phase, self._begin, self._jobs = to, "", 0.0, 0
        self.timings: dict[str, Timing] = {}

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        self.stop()
        self._phase, self._begin, self._jobs = what, time.monotonic(), 0
        self.to.start(total, what, left)

    def stop(self) -> None:
        """What follows belongs to no phase."""
        if self._phase:
            spent = Timing(self._jobs, time.monotonic() - self._begin)
            self.timings[self._phase] = self.timings.get(self._phase, Timing()) + spent
            self._phase = ""

    def advance(self, count: int = 1) -> None:
        self._jobs += count
        self.to.advance(count)

    def at(self, text: str) -> None:
        self.to.at(text)

    def message(self, text: str) -> None:
        self.to.message(text)


LOG_INTERVAL = 30.0
"""Seconds between two lines of a log about a job that is still in progress."""


class LogClock:
    """When a log gets its next line about what is in progress."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Whether LOG_INTERVAL has passed since this was last so, or since the start."""
        now = time.monotonic()
        if now - self._last < LOG_INTERVAL:
            return False
        self._last = now
        return True


class Log(Quiet):
    """Shows only, from time to time on stderr, how far a job is that takes long."""

    def __init__(self) -> None:
        self._clock = LogClock()

    def at(self, text: str) -> None:
        if self._clock.is_due():
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
