"""Executors perform the jobs whose answers a store does not hold yet.

In: jobs, in the order of the plan. Out: their answers, one by one, in the caller's thread. `ask` is
the only access to an executor: it leaves out what the store holds, stores every answer at once, and
turns Ctrl-C into Stopped. So an interrupted command loses at most the jobs in progress, however it
ends.

A backend, such as a cluster, is a class with the method `run` of Executor. It hands on each job as
it is: a job is a value that performs itself through a Sink. Hardware jobs are about timing, so that
a backend gives a machine one of them at a time.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from weakspot.errors import Interrupted, WeakspotError
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.store import MemoryStore, Store
from weakspot.harness.campaign.time_left import Known, Remaining
from weakspot.harness.machines import Machine
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from weakspot.harness.runners.steadiness import SteadinessProbe


class Stopped(Interrupted):
    """Ctrl-C. The answers until then are in the store; `stored_in` says where."""

    def __init__(self, store: Store) -> None:
        self.stored_in = store.place
        where = f" in {store.place}" if store.place else ""
        stored = "1 answer is" if store.count == 1 else f"{store.count:,} answers are"
        super().__init__(
            f"interrupted; {stored} stored{where}",
            advice="run the same command again to resume" if where else None,
        )


class Events:
    """What an executor reports besides answers and progress. By default a job that fails ends the
    command; a command that can continue without its answers overrides `failed`."""

    def failed(self, job: Job, error: WeakspotError) -> None:  # noqa: ARG002
        """Called when the job, and those that were performed with it, have no answer this time: a
        tool is missing or fails, or a file of the user's is malformed."""
        raise error

    def measured(self, machine: Machine, facts: dict[str, Any]) -> None:
        """Called with what was measured of a machine while jobs ran on it."""


class Receiver(msgspec.Struct):
    """Where an executor reports to: first the phase, then each answer as soon as it is known, which
    is stored, and what it reports besides to the `events`. `known` are the seconds of jobs. All of
    them share the time until the `end`."""

    store: Store
    progress: Progress
    events: Events
    known: Known
    end: Deadline = NEVER
    remaining: Remaining | None = None

    def begin(self, phase: str, jobs: Sequence[Job]) -> None:
        """A phase begins, in which these jobs are performed."""
        self.remaining = Remaining(jobs, self.known)
        self.progress.start(sum(job.count for job in jobs), phase, self.remaining.left)

    @property
    def is_timed(self) -> bool:
        """Whether there is an end: then every job is performed alone, within its share."""
        return self.end != NEVER

    def timed(self, jobs: Sequence[Job], rounds: int) -> Sequence[Job]:
        """The jobs with their shares of the time that is left, in which there are so many rounds
        of jobs. Raises what reading the user's files raises."""
        if not self.is_timed:
            return jobs
        share = self.end.left / rounds
        return [job.within(share) for job in jobs]

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:
        self.store.put(job.key, answer, final=final and job.is_current)
        if self.remaining is not None:
            self.remaining.answered(job)
        self.progress.advance(job.count)


class Executor(Protocol):
    """A backend that performs jobs."""

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:
        """Perform the jobs; report each answer as soon as it is known.

        A missing or failing tool, and a malformed file of the user's, is reported to the events,
        and other jobs are performed nevertheless, unless that raises. KeyboardInterrupt ends the
        run, after the answers that are known by then.
        """
        ...


def ask(
    jobs: Iterable[Job],
    store: Store,
    executor: Executor,
    *,
    progress: Progress | None = None,
    events: Events | None = None,
    known: Known = lambda _: None,
    end: Deadline = NEVER,
) -> None:
    """Have the executor perform each job that the store does not hold, once, and store its answer.
    `known` are the seconds of jobs, for the progress. Every job gets an equal share of the time
    until the `end`.

    Raises Stopped on Ctrl-C, what `events.failed` raises, and what the store raises when the disk
    does not take an answer.
    """
    left = {job.key: job for job in jobs if not store.has(job.key)}
    with stoppable(store):
        to = Receiver(store, progress or Quiet(), events or Events(), known, end)
        executor.run(list(left.values()), to)


@contextlib.contextmanager
def stoppable(store: Store) -> Iterator[None]:
    """Turns Ctrl-C inside the block into Stopped."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(store) from None


def steadiness(machine: Machine) -> contextlib.AbstractContextManager[SteadinessProbe]:
    """The probe of runners.steadiness, imported only where something runs on a machine."""
    from weakspot.harness.runners.steadiness import steadiness_probe

    return steadiness_probe(machine)


def batches(jobs: Sequence[Job], most: int | None = None) -> Iterator[list[Job]]:
    """The jobs that are performed together, at most so many at a time."""
    for _, group in itertools.groupby(jobs, lambda job: (type(job), job.batch)):
        batch = list(group)
        together = min(filter(None, (most, batch[0].together, len(batch))))
        for at in range(0, len(batch), together):
            yield batch[at : at + together]


class LocalExecutor:
    """Performs jobs in this process, one batch after the other. Explorers and checkers use every
    core themselves; machines run one after the other too, since an emulator, or compiling for
    another machine, would disturb what runs on this one. The `gauge` measures how steadily a
    machine runs meanwhile.
    """

    def __init__(
        self,
        *,
        gauge: Callable[[Machine], contextlib.AbstractContextManager[SteadinessProbe]]
        | None = steadiness,
    ) -> None:
        self._gauge = gauge

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:
        """See Executor."""
        left = len(jobs)
        for machine, there in itertools.groupby(jobs, lambda job: job.machine):
            with self._measured(machine, to) as probe:
                for phase, group in itertools.groupby(there, lambda job: job.phase):
                    waiting = list(group)
                    to.begin(phase, waiting)
                    for batch in batches(waiting, 1 if to.is_timed else None):
                        self._perform(batch, left, to, probe)
                        left -= len(batch)

    def _perform(
        self, batch: Sequence[Job], remaining: int, to: Receiver, probe: Callable[[], None]
    ) -> None:
        """Answer a batch. On a machine that was lost during a job, the others are tried again as
        long as it answers any: then only its connection broke."""
        left = {job.key: job for job in batch}
        answers = _Answers(left, to, probe)
        before = len(left) + 1
        while left and len(left) < before:
            before = len(left)
            jobs: Sequence[Job] = list(left.values())
            try:
                jobs = to.timed(jobs, remaining)
                type(jobs[0]).perform(jobs, answers)
            except Interrupted:
                raise
            except WeakspotError as error:
                to.events.failed(batch[0], error)
                if batch[0].machine is None:
                    return

    @contextlib.contextmanager
    def _measured(self, machine: Machine | None, to: Receiver) -> Iterator[Callable[[], None]]:
        """Measures how steadily the machine runs meanwhile; the block gets what takes a measurement
        after a job."""
        if machine is None or self._gauge is None:
            yield lambda: None
            return
        with self._gauge(machine) as gauge:
            try:
                yield gauge.probe
            finally:
                to.events.measured(machine, msgspec.to_builtins(gauge.found))


class _Answers(msgspec.Struct):
    """The Sink of a batch: reports answers, and knows which jobs are left."""

    left: dict[str, Job]
    to: Receiver
    probe: Callable[[], None]

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:
        self.to.answered(job, answer, final=final)
        self.left.pop(job.key, None)
        self.probe()

    def at(self, text: str) -> None:
        self.to.progress.at(text)


def answer_of(job: Job, store: MemoryStore, executor: Executor) -> object:
    """The answer of one job, from the store if it was asked before. Raises what `ask` raises."""
    ask((job,), store, executor)
    return store.get(job.key)
