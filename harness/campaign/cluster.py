"""The executor of a Dask cluster: jobs are performed by the workers of a scheduler.

In: a client of a scheduler (connection.py). Out: an Executor. Jobs are sent as parcels
(parcels.py), a few more than the workers can perform at once. Answers are reported as parcels come
back, so that this process may die at any moment and lose only the jobs in progress. Dask sends the
parcels of a worker that died to another one; parcels that failed are sent again from here
(faults.py). Explorations are shared (shares.py).

Jobs of machines are performed by this process, which compiles the programs. The machine may be that
of a worker (machines/worker.py), which then runs them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weakspot.errors import Interrupted, WeakspotError
from weakspot.harness.campaign.connection import Client, Future, Workers, failed_at, is_unfinished
from weakspot.harness.campaign.executor import Executor, LocalExecutor, Receiver, batches
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.parcels import Performed
from weakspot.harness.campaign.shares import SharedExplorations, is_divisible

TOGETHER = 8
"""At most this many jobs are in a parcel. A worker that dies loses as many answers."""

AHEAD = 4
"""How many parcels are sent per thread of the workers, so that none waits for this process."""

FEWEST = 16
"""How many parcels are sent at least, so that a scheduler knows that it could use more workers."""


class ClusterExecutor:
    """Performs jobs on the workers of a client's scheduler, and those of machines `here`."""

    def __init__(self, client: Client, *, here: Executor | None = None) -> None:
        self._workers, self._here = Workers(client), here or LocalExecutor()

    def workers(self) -> dict[str, int]:
        """The addresses of the workers, with their threads. Raises ClusterLost."""
        return self._workers.addresses()

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:
        """See Executor. Raises ClusterLost when the scheduler does not answer any more."""
        later = len(jobs)
        for of_machine, part in itertools.groupby(jobs, lambda job: job.machine is not None):
            if of_machine:
                on_machines = list(part)
                later -= len(on_machines)
                self._here.run(on_machines, to)
                continue
            for phase, group in itertools.groupby(part, lambda job: job.phase):
                waiting = list(group)
                later -= len(waiting)
                to.begin(phase, waiting)
                shared: list[Explore] = []
                whole: list[Job] = []
                for job in waiting:
                    if not to.is_timed and isinstance(job, Explore) and is_divisible(job):
                        shared.append(job)
                    else:
                        whole.append(job)
                with self._workers.reachable():
                    _Phase(self._workers, whole, to, later).perform()
                    SharedExplorations(self._workers, shared, to).perform()


class _Parcel(NamedTuple):
    """Jobs that are performed together, and the workers that have failed at them."""

    jobs: Sequence[Job]
    failed: tuple[str, ...] = ()


class _Phase:
    """Jobs that are performed at the same time; so many others are left for `later`."""

    def __init__(self, workers: Workers, jobs: Sequence[Job], to: Receiver, later: int) -> None:
        self._workers, self._to, self._later = workers, to, later
        long = to.is_timed or any(job.is_long for job in jobs)
        self._parcels = batches(jobs, 1 if long else TOGETHER)
        self._left = {job.key: job for job in jobs}
        self._again: list[_Parcel] = []
        self._sent: dict[Future, _Parcel] = {}

    def perform(self) -> None:
        """Perform the jobs. Raises ClusterLost."""
        try:
            self._perform()
        finally:
            self._withdraw()

    def _perform(self) -> None:
        if not self._left:
            return
        threads = self._workers.threads()
        if not threads:
            self._to.progress.message("no worker has joined the cluster; waiting for one")
        finished = self._workers.finished()
        while self._left:
            room = max(FEWEST, AHEAD * threads) - len(self._sent)
            for parcel, jobs in itertools.islice(self._ready(), max(0, room)):
                future = self._workers.send(jobs, parcel.failed)
                self._sent[future] = parcel
                finished.add(future)
            if not self._sent:
                return  # the rest has failed
            future = next(finished)
            if is_unfinished(future):
                finished.add(future)
            else:
                self._receive(future)
            if not len(self._left) % FEWEST:
                threads = self._workers.threads()

    def _next(self) -> Iterator[_Parcel]:
        """What is to be sent: first what has failed."""
        while self._again:
            yield self._again.pop()
        yield from map(_Parcel, self._parcels)

    def _ready(self) -> Iterator[tuple[_Parcel, list[Job]]]:
        """What is to be sent, as the workers get it, with its share of the time."""
        for parcel in self._next():
            jobs = parcel.jobs
            try:
                if self._to.is_timed:
                    left = len(self._left) + self._later
                    rounds = math.ceil(left / max(self._workers.threads(), 1))
                    jobs = self._to.timed(jobs, rounds)
            except Interrupted:
                raise
            except WeakspotError as error:  # reading the user's files
                self._fail(parcel.jobs, error)
                continue
            yield parcel, [each.on_one_core() for each in jobs]

    def _receive(self, future: Future) -> None:
        """Report what became of a parcel."""
        parcel = self._sent.pop(future)
        done = self._workers.outcome(future, parcel.failed, self._to.progress)
        self._report(done)
        if done.error is None:
            return
        left = [job for job in parcel.jobs if job.key in self._left] or parcel.jobs
        if (failed := failed_at(done, parcel.failed)) is not None:
            self._again.append(_Parcel(left, failed))
        else:
            self._fail(left, done.error)

    def _report(self, done: Performed) -> None:
        done.store_frontiers()
        for key, answer, final in done.answers:
            job = self._left.pop(key, None)
            if job is not None:
                self._to.answered(job, answer, final=final)

    def _fail(self, jobs: Sequence[Job], error: WeakspotError) -> None:
        """Report a failure; the jobs have no answer this time."""
        for job in jobs:
            self._left.pop(job.key, None)
        self._to.events.failed(jobs[0], error)

    def _withdraw(self) -> None:
        """Report what is known by now, and have the rest cancelled."""
        sent, self._sent = self._sent, {}
        for _, done in self._workers.results(sent):
            self._report(done)
