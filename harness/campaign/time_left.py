"""How long the rest of a phase takes.

In: its jobs, what is known beforehand of how long each takes (history.py), and when each was
answered. Out: the seconds that are left. Jobs of different kinds, such as checks with the engine
and with cbmc, differ by orders of magnitude and come one kind after the other, so that the mean of
those that are answered does not predict the others: each kind has its own rate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence

from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.progress import TimeLeft
from weakspot.system.deadline import NEVER

TRUST = 0.1
"""What is known beforehand counts as much as the measurement of this part of a kind's jobs."""

Known = Callable[[Job], float | None]
"""The seconds of a job as far as they are known beforehand."""


class Remaining:
    """The jobs of a phase that are not answered yet. They are answered in this order, or nearly:
    the time between two answers belongs to the job of the second one."""

    def __init__(self, jobs: Sequence[Job], known: Known) -> None:
        self._left = {job.key: job for job in jobs}
        by_kind: dict[Hashable, list[Job]] = {}
        for job in jobs:
            by_kind.setdefault(job.kind, []).append(job)
        self._end = max((job.deadline for job in jobs), key=lambda each: each.at, default=NEVER)
        self._kinds = {kind: _Kind(these, known) for kind, these in by_kind.items()}
        self._last = time.monotonic()

    def answered(self, job: Job) -> None:
        """The job is answered now."""
        now = time.monotonic()
        # it may have become another kind of job when its files were read
        if (begun := self._left.pop(job.key, None)) is not None:
            self._kinds[begun.kind].add(begun, now - self._last)
            self._last = now

    def left(self) -> TimeLeft | None:
        """The time that is left; None if nothing is known, or if what is in progress takes longer
        than all was expected to take."""
        found = [kind.left for kind in self._kinds.values()]
        known = [seconds for seconds in found if seconds is not None]
        seconds = self._end.at_most(sum(known) - (time.monotonic() - self._last))
        return TimeLeft(seconds, len(known) == len(found)) if seconds > 0 else None


class _Kind:
    """The jobs of one kind. Each has a weight: the seconds that are known of it, or the mean of
    those known of others; where nothing is known, the number of its questions."""

    def __init__(self, jobs: Sequence[Job], known: Known) -> None:
        seconds = {job.key: found for job in jobs if (found := known(job)) is not None}
        self._known = bool(seconds)
        mean = sum(seconds.values()) / len(seconds) if seconds else 0.0
        self._weights = {
            job.key: seconds.get(job.key, mean) if seconds else float(job.count) for job in jobs
        }
        self._total = sum(self._weights.values())
        self._done = self._spent = 0.0

    def add(self, job: Job, seconds: float) -> None:
        """A job was answered after so many seconds."""
        self._done += self._weights.pop(job.key)
        self._spent += seconds

    @property
    def left(self) -> float | None:
        """The seconds that the others take; None if nothing is known of any job of the kind."""
        if not self._weights:
            return 0.0
        before = TRUST * self._total if self._known else 0.0
        if not before + self._done:
            return None
        rate = (before + self._spent) / (before + self._done)
        return rate * max(0.0, self._total - self._done)
