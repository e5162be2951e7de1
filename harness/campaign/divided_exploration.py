"""One exploration that is divided into shares, and how far it is.

In: an exploration, and what its shares have found and left open. Out: the next shares to explore,
and at the end the answer, as one process gives it. What was found and is open is stored from time
to time, so that the exploration resumes with and without a cluster.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from weakspot import _engine
from weakspot.harness.campaign.connection import Future
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.pace import ExplorationPace
from weakspot.harness.checkers.explorer import Course, EngineExplorer, Share
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.numbers import amount
from weakspot.system.deadline import Deadline, ending

FIRST = 2.0
"""How many seconds one worker explores a program before it is divided."""

SLICE = 5.0
"""How many seconds a worker explores a share. One that has nothing to do waits for as long."""

SHORTEST = 0.01
"""For fewer seconds nothing is sent as long as something is under way."""

LAST = 10.0
"""How many seconds one worker has for what an exploration does that runs out of time: those with
fewer iterations of loops."""

QUARTER = 0.25
"""FIRST and LAST are at most this part of the time limit."""

AHEAD = 2
"""How many shares are sent per thread of the workers."""

STORED = 5.0
"""How many seconds pass before what is open is stored again."""

DEAREST = 20
"""As many times as long as storing it took pass as well."""


class Concluded(msgspec.Struct, frozen=True):
    """The answer to an exploration, and what it leaves open."""

    found: Exploration
    left: bytes | None


class ExploreShare(Job, frozen=True, kw_only=True):
    """What is there in a share of what an exploration has left open? The answer is a Share. With
    `concludes` it is Concluded if nothing is left open then, or if there are no `seconds`: then one
    worker explores what is left, within `rest` seconds."""

    whole: Explore
    share: bytes | None = None
    seconds: float = 0.0
    concludes: bool = False
    rest: float = float("inf")

    @property
    def phase(self) -> str:
        return self.whole.phase

    @classmethod
    def perform(cls, jobs: Sequence[ExploreShare], sink: Sink) -> None:
        for job in jobs:
            sink.answered(job, job._answer(sink))

    def _answer(self, sink: Sink) -> Share | Concluded:
        whole, left, rest = self.whole, self.share, self.rest
        assert isinstance(whole.explorer, EngineExplorer)
        explorer = msgspec.structs.replace(whole.explorer, jobs=1)
        program = whole.program.named
        share = None
        if self.seconds:
            share = explorer.explore_share(program, whole.model, whole.bounds, left, self.seconds)
            if share is not None and not (self.concludes and share.complete):
                return share
            if left is not None and not self.concludes:
                return Share(left, executions=0, earlier=0, complete=False, resumed=True)
            left = left if share is None else share.left
            rest = whole.bounds.seconds - self.seconds
        explorer = msgspec.structs.replace(explorer, rest=rest)
        kept: list[bytes] = []
        pace = ExplorationPace(whole.what, whole.bounds.seconds, sink.at)
        course = Course(pace, left, kept.append)
        found = explorer.explore(program, whole.model, whole.bounds, course)
        if share is not None:
            resumed = share.earlier if share.resumed else 0
            found = msgspec.structs.replace(found, resumed=resumed)
        return Concluded(found, kept[-1] if kept else None)


class DividedExploration:
    """An exploration, and how far it is."""

    def __init__(self, job: Explore) -> None:
        self.job = job
        self.executions = 0
        self.sent: dict[Future, ExploreShare] = {}
        """What is under way."""
        self._share = msgspec.structs.replace(job, frontier=Frontier())
        self._left, self._notes = job.frontier.read(job.question)
        """What was found and is open, except for `_open` and for what is under way."""
        self._open: list[bytes] = []
        """Shares that are not sent yet."""
        self._resumed = 0
        self._began = 0.0
        self._end: Deadline | None = None
        self._next_store = 0.0

    @property
    def seconds(self) -> float:
        """Since it has begun."""
        return time.monotonic() - self._began if self._began else 0.0

    @property
    def status(self) -> str:
        shares = amount(len(self.sent) + len(self._open), "share")
        return f"{self.job.what}: {amount(self.executions, 'execution')}, {shares} under way"

    def first(self) -> ExploreShare:
        """What one worker explores for a moment."""
        self._began = time.monotonic()
        self._next_store = self._began + STORED
        everything, self._left = self._left, None
        return self._asked(everything, self._first, concludes=True)

    @property
    def _first(self) -> float:
        return min(FIRST, self.job.bounds.seconds * QUARTER)

    @property
    def _last(self) -> float:
        return min(LAST, self.job.bounds.seconds * QUARTER)

    def _asked(
        self,
        share: bytes | None,
        seconds: float = 0.0,
        *,
        concludes: bool = False,
        rest: float = float("inf"),
    ) -> ExploreShare:
        return ExploreShare(
            key=self.job.key,
            whole=self._share,
            share=share,
            seconds=seconds,
            concludes=concludes,
            rest=rest,
        )

    def next(self, room: int, most: int) -> Iterator[ExploreShare]:
        """At most so many shares that can be sent now; `most` can be under way. The last is what
        gives the answer."""
        if any(job.concludes for job in self.sent.values()):
            return
        if self._end is None:
            self._end = ending(self.job.bounds.seconds - self._first - self._last)
            self._began = time.monotonic() - self._first
        if room <= 0:
            return
        assert self._left is not None
        if self._end.passed:
            if not self.sent:
                self._left, self._open = self._joined(self._open), []
                yield self._asked(self._left, concludes=True, rest=self._last)
            return
        if not self._open:
            self._left, self._open = _engine.divide(self._left, most)
        if not self._open and not self.sent:
            rest = max(self._last, self.job.bounds.seconds - self.seconds)
            yield self._asked(self._left, concludes=True, rest=rest)
        for _ in range(min(room, len(self._open))):
            # a thread begins it when it has explored those that were sent before
            before = sum(job.seconds for job in self.sent.values()) / max(1, most // AHEAD)
            if (seconds := min(SLICE, self._end.left - before)) < SHORTEST and self.sent:
                return
            yield self._asked(self._open.pop(0), max(SHORTEST, seconds))

    def gets_back(self, job: ExploreShare, sent: Future = None) -> None:
        """Take a share back in which nothing was explored, which was `sent`."""
        left, back = self._left, list(self._open)
        if left is None:
            left = job.share
        elif job.share is not None and not job.concludes:
            back.append(job.share)
        self._left, self._open, self.sent = left, back, self._besides(sent)

    def takes(self, future: Future, found: Share) -> bool:
        """Add what was found in a share. Returns whether the search has started again, so that
        those under way are worth nothing."""
        rest = self._besides(future)
        if self.sent[future].concludes:  # the first, of everything
            self._resumed = found.earlier
            self._left, self.executions, self.sent = found.left, found.executions, rest
            return False
        assert self._left is not None
        if not found.resumed:
            both, anew, executions = found.left, True, found.executions
        else:
            both, anew = self._join(self._left, found.left)
            executions = 0 if anew else self.executions + found.executions
        still, resumed = ([], 0) if anew else (self._open, self._resumed)
        self._left, self._open, self.sent = both, still, rest
        self.executions, self._resumed = executions, resumed
        return anew

    def _besides(self, future: Future) -> dict[Future, ExploreShare]:
        """What else is under way. What is open changes together with it, so that Ctrl-C at any
        moment neither loses a share nor counts it twice."""
        return {each: job for each, job in self.sent.items() if each is not future}

    def _join(self, one: bytes, other: bytes) -> tuple[bytes, bool]:
        program = self.job.program.generated.program
        return program.lowered.join(one, other, self.job.bounds)

    def _joined(self, shares: Sequence[bytes]) -> bytes:
        """What was found, and all that is open, with these shares that were not explored."""
        assert self._left is not None
        left = self._left
        for share in shares:
            left, _ = self._join(left, share)
        return left

    def store(self, *, now: bool = False) -> None:
        """Store what was found and is open, if that was not done a moment ago."""
        if self._left is None or self.job.frontier.path is None:
            return
        begun = time.monotonic()
        if not now and begun < self._next_store:
            return
        sent = [job for job in self.sent.values() if not job.concludes]
        under_way = [job.share for job in sent if job.share is not None]
        self.job.frontier.write(self.job.question, self._joined([*self._open, *under_way]))
        done = time.monotonic()
        self._next_store = done + max(STORED, DEAREST * (done - begun))

    def answer(self, concluded: Concluded) -> Exploration:
        """The answer, as one process gives it."""
        found = concluded.found
        if self._left is not None:  # it was divided
            seconds = round(self.seconds, 6)
            found = msgspec.structs.replace(found, resumed=self._resumed, seconds=seconds)
        if not self.job.is_current:
            return found
        return self.job.frontier.ended(self.job.question, found, concluded.left, self._notes)
