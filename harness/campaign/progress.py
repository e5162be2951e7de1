"""How a command reports what it is doing while it runs."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from weakspot.harness.values.record import Timing
from weakspot.system.durations import duration_text


class TimeLeft(NamedTuple):
    """The seconds that are left of a phase, those of jobs of which nothing is known not counted;
    whether there are no such jobs."""

    seconds: float
    complete: bool

    def __str__(self) -> str:
        return f"{'about' if self.complete else 'more than'} {duration_text(self.seconds)} left"


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
"""Seconds between two lines of a log about a phase that is still in progress."""


class Log(Quiet):
    """Writes messages to stderr, and from time to time how far the phase and the job in progress
    are; with `phases` also a line at the beginning of each phase."""

    def __init__(self, *, phases: bool = False) -> None:
        self._last, self._phases = time.monotonic(), phases
        self._phase, self._total, self._done, self._detail = "", 0, 0, ""
        self._left: Left | None = None

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        self._phase, self._total, self._done, self._detail = what, total, 0, ""
        self._left = left
        if self._phases:
            self.message(f"{what}: {total:,}" if total else what)

    def advance(self, count: int = 1) -> None:
        self._done += count
        self._write_if_due()

    def at(self, text: str) -> None:
        self._detail = text
        self._write_if_due()

    def message(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def _write_if_due(self) -> None:
        now = time.monotonic()
        if now - self._last < LOG_INTERVAL:
            return
        self._last = now
        count = f"{self._done:,} of {self._total:,}" if self._total else f"{self._done:,}"
        left = self._left and self._left()
        phase = f"{self._phase}: {count}{f', {left}' if left else ''}" if self._phase else ""
        self.message("; ".join(filter(None, (phase, self._detail))))
