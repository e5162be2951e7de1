"""Explorations that the workers of a cluster share.

In: questions about programs, and workers. Out: their answers, as one worker gives them. A program
is first explored by one worker for a moment, which most need no longer. What it leaves open is
divided into shares; a worker explores one for some seconds, and returns what it has found and left
open. That is joined with what the others found, and divided again for workers that are idle. A
share counts when it has arrived, once: those of workers that die are explored again. After what one
worker has learned of the program contradicts what another assumes, all start again, as the threads
of one process do.

What was found and is open is stored from time to time, and at the end, as by an exploration of one
process: it is resumed with and without a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weakspot.errors import MissingTool, ToolFailed, WeakspotError
from weakspot.harness.campaign.connection import Future, Workers, failed_at, is_unfinished
from weakspot.harness.campaign.divided_exploration import (
    AHEAD,
    Concluded,
    DividedExploration,
    ExploreShare,
)
from weakspot.harness.campaign.executor import Receiver
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.parcels import Performed
from weakspot.harness.checkers.explorer import EngineExplorer, Share
from weakspot.system.deadline import NEVER


def is_divisible(job: Explore) -> bool:
    """Whether workers may share an exploration: of all executions, however many there are."""
    explorer = job.explorer
    return (
        type(explorer) is EngineExplorer
        and explorer.part == explorer.part.whole
        and explorer.end == NEVER
        and not job.bounds.executions
    )


class _Sent(NamedTuple):
    """A share, and the workers that have failed at it."""

    shared: DividedExploration
    job: ExploreShare
    failed: tuple[str, ...] = ()


class SharedExplorations:
    """Explorations that workers perform at the same time: first each by one worker, then those that
    take longer by all, one after the other."""

    def __init__(self, workers: Workers, jobs: Sequence[Explore], to: Receiver) -> None:
        self._workers, self._to = workers, to
        self._waiting = [DividedExploration(job) for job in jobs]
        self._begun: list[DividedExploration] = []
        self._sent: dict[Future, _Sent] = {}
        self._finished = workers.finished()

    def perform(self) -> None:
        """Answer all. Raises ClusterLost, and BadInput for a malformed file of the user's."""
        try:
            self._perform()
        except KeyboardInterrupt:
            self._withdraw(answered=True)
            raise
        except BaseException:
            self._withdraw(answered=False)
            raise

    def _perform(self) -> None:
        while self._waiting or self._begun:
            threads = self._workers.threads()
            for shared, job in self._next(AHEAD * max(threads, 1)):
                try:
                    self._send(_Sent(shared, job))
                except BaseException:
                    shared.gets_back(job)
                    raise
            future = next(self._finished)
            if is_unfinished(future):
                self._finished.add(future)
            elif future in self._sent:  # not of a search that has started again
                self._receive(future)

    def _send(self, what: _Sent) -> None:
        future = self._workers.send([what.job], what.failed)
        self._sent[future] = what
        what.shared.sent[future] = what.job
        self._finished.add(future)

    def _next(self, most: int) -> Iterator[tuple[DividedExploration, ExploreShare]]:
        """What is to be sent, so that so many shares are under way."""
        room = most - len(self._sent)
        under_way = list(self._begun)
        while self._waiting and room > 0:
            shared = self._waiting.pop(0)
            self._begun.append(shared)
            room -= 1
            yield shared, shared.first()
        for shared in under_way:
            for job in shared.next(room, most):
                room -= 1
                yield shared, job

    def _receive(self, future: Future) -> None:
        """Take what became of a share, which is under way until that is known: where this raises,
        it is stored as open."""
        shared, job, failed = self._sent[future]
        done = self._workers.outcome(future, failed, self._to.progress)
        if done.error is None:
            self._take(future, done)
        elif (again := failed_at(done, failed)) is not None:
            self._send(_Sent(shared, job, again))
            shared.sent.pop(future)
        else:
            self._fail(future, done.error)
        self._sent.pop(future, None)

    def _take(self, future: Future, done: Performed) -> None:
        shared, job, _ = self._sent[future]
        if not done.answers:
            shared.gets_back(job, future)
        for _, answer, _ in done.answers:
            match answer:
                case Share():
                    if shared.takes(future, answer):
                        self._forget(shared)
                    shared.store()
                    self._to.progress.at(shared.status)
                case Concluded():
                    del shared.sent[future]
                    self._to.answered(shared.job, shared.answer(answer))
                    self._begun.remove(shared)

    def _forget(self, shared: DividedExploration) -> None:
        """Withdraw the shares of a search that has started again."""
        for future in shared.sent:
            del self._sent[future]
            future.cancel()
        shared.sent.clear()

    def _fail(self, future: Future, error: WeakspotError) -> None:
        """Report a failure; the exploration has no answer this time."""
        shared, job, _ = self._sent.pop(future)
        shared.gets_back(job, future)
        shared.store(now=True)
        self._forget(shared)
        self._begun.remove(shared)
        if not isinstance(error, MissingTool | ToolFailed):
            raise error
        self._to.events.failed(shared.job, error)

    def _withdraw(self, *, answered: bool) -> None:
        """Store what is open; report what is known by now, if that is to be `answered`."""
        sent = dict(self._sent)
        for future, done in self._workers.results(sent):
            if future in sent[future].shared.sent:
                self._take(future, done)
        for shared in self._begun:
            shared.store(now=True)
            if answered:
                so_far = shared.job.unknown(
                    interrupted=True, executions=shared.executions, seconds=shared.seconds
                )
                self._to.answered(shared.job, so_far, final=False)
