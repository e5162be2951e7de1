"""The executor of a Dask cluster: jobs are performed by the workers of a scheduler.

In: an address of a running `dask scheduler`, or how many workers to start on this computer. Out: an
Executor. Jobs are sent as parcels (parcels.py), a few more than the workers can perform at once.
Answers are reported as parcels come back, so that this process may die at any moment and lose only
the jobs in progress. Dask sends the parcels of a worker that died to another one.

Jobs of machines are performed by this process: a worker that has the same name for a machine as the
user may mean another one.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from weakspot.errors import BadInput, MissingTool, ToolFailed
from weakspot.harness.campaign import parcels
from weakspot.harness.campaign.executor import Executor, LocalExecutor, Receiver
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.parcels import Performed

Client = Any
Future = Any

LOCAL = "local:"
"""What an address begins with that has workers started on this computer."""

TOGETHER = 8
"""At most this many jobs are in a parcel. A worker that dies loses as many answers."""

AHEAD = 4
"""How many parcels are sent per thread of the workers, so that none waits for this process."""

FEWEST = 16
"""How many parcels are sent at least, so that a scheduler knows that it could use more workers."""

SECONDS = 10.0
"""How long the scheduler may take to answer at first."""


class ClusterLost(ToolFailed):
    """The scheduler does not answer any more."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at the address, or of workers that live as long as the block.

    Raises MissingTool without Dask, BadInput for what is no address, and ClusterLost.
    """
    distributed = _dask()
    with contextlib.ExitStack() as opened:
        target: Any = address
        if address.startswith(LOCAL):
            count = address.removeprefix(LOCAL)
            if not count.isdecimal() or not int(count):
                raise BadInput(
                    f"{address!r} does not say how many workers to start",
                    advice="write for example --cluster local:2",
                )
            target = opened.enter_context(
                distributed.LocalCluster(
                    n_workers=int(count),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs="CRITICAL",
                )
            )
        try:
            client = distributed.Client(target, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterLost(
                f"no Dask scheduler answers at {address}",
                advice="start one with `dask scheduler`, and workers with `dask worker ADDRESS`; "
                "--cluster local:2 starts two workers on this computer",
            ) from error
        yield opened.enter_context(client)


def _dask() -> Any:
    """Dask distributed, whose functions have no types; imported where a cluster is asked for."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise MissingTool(
            "--cluster needs Dask distributed, which is not installed",
            advice="pip install 'weakspot[cluster]'",
        ) from error


class ClusterExecutor:
    """Performs jobs on the workers of a client's scheduler, and those of machines `here`; an
    Executor."""

    def __init__(self, client: Client, *, here: Executor | None = None) -> None:
        self._client, self._here = client, here or LocalExecutor()
        self._name = uuid.uuid4().hex[:8]
        self._number = itertools.count()

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:
        """See Executor. Raises ClusterLost when the scheduler does not answer any more."""
        for of_machine, part in itertools.groupby(jobs, lambda job: job.machine is not None):
            if of_machine:
                self._here.run(list(part), to)
                continue
            for phase, group in itertools.groupby(part, lambda job: job.phase):
                waiting = list(group)
                to.progress.start(sum(job.count for job in waiting), phase)
                _Phase(self._client, waiting, to, self._key).perform()

    def _key(self, parcel: Sequence[Job]) -> str:
        """The name of a parcel, as Dask's dashboard shows it; never used again."""
        return f"{type(parcel[0]).__name__.lower()}-{self._name}-{next(self._number)}"


class _Phase:
    """Jobs that are performed at the same time."""

    def __init__(
        self,
        client: Client,
        jobs: Sequence[Job],
        to: Receiver,
        name: Callable[[Sequence[Job]], str],
    ) -> None:
        self._client, self._to, self._name = client, to, name
        self._parcels = _parcels(jobs)
        self._left = {job.key: job for job in jobs}
        self._sent: dict[Future, Sequence[Job]] = {}
        self._failed: set[tuple[str, str]] = set()

    def perform(self) -> None:
        """Perform the jobs. Raises ClusterLost."""
        try:
            self._perform()
        except _dask().comm.CommClosedError as error:
            raise _lost(self._client) from error
        finally:
            self._withdraw()

    def _perform(self) -> None:
        threads = self._threads()
        if not threads:
            self._to.progress.message("no worker has joined the cluster; waiting for one")
        finished = _dask().as_completed(loop=self._client.loop)
        while self._left:
            room = max(FEWEST, AHEAD * threads) - len(self._sent)
            for parcel in itertools.islice(self._parcels, max(0, room)):
                finished.add(self._send(parcel))
            if not self._sent:
                return  # the rest has failed
            future = next(finished)
            if future.status in ("pending", "lost"):  # its worker died with the result
                finished.add(future)
            else:
                self._receive(future)
            if not len(self._left) % FEWEST:
                threads = self._threads()

    def _threads(self) -> int:
        """How many parcels the workers perform at once."""
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError, TimeoutError) as error:
            raise _lost(self._client) from error

    def _send(self, parcel: Sequence[Job]) -> Future:
        content = parcels.pack([job.on_one_core() for job in parcel])
        try:
            future = self._client.submit(performed, content, key=self._name(parcel), pure=False)
        except (OSError, RuntimeError) as error:
            raise _lost(self._client) from error
        self._sent[future] = parcel
        return future

    def _receive(self, future: Future) -> None:
        """Report what became of a parcel."""
        parcel = self._sent.pop(future)
        try:
            done = future.result()
        except CancelledError as error:
            raise _lost(self._client) from error
        except Exception as error:
            self._fail(parcel, _explained(error))
        else:
            self._report(parcel, done)
        finally:
            future.release()

    def _report(self, parcel: Sequence[Job], done: Performed) -> None:
        done.store_frontiers()
        for key, answer, final in done.answers:
            job = self._left.pop(key, None)
            if job is not None:
                self._to.answered(job, answer, final=final)
                self._to.progress.advance(job.count)
        if done.error is not None:
            self._fail([job for job in parcel if job.key in self._left] or parcel, done.error)

    def _fail(self, parcel: Sequence[Job], error: Exception) -> None:
        """Report a failure, each once; the jobs have no answer this time."""
        for job in parcel:
            self._left.pop(job.key, None)
        if not isinstance(error, MissingTool | ToolFailed):
            raise error
        about = parcel[0].label, error.message
        if about not in self._failed:
            self._failed.add(about)
            self._to.failed(parcel[0].label, error)

    def _withdraw(self) -> None:
        """Report what is known by now, and have the rest cancelled."""
        sent, self._sent = self._sent, {}
        rest = []
        for future, parcel in sent.items():
            if future.status == "finished":
                with contextlib.suppress(Exception):
                    self._report(parcel, future.result(timeout=SECONDS))
            else:
                rest.append(future)
        if rest:
            with contextlib.suppress(Exception):
                self._client.cancel(rest, force=True)


def _parcels(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs that are performed together by one worker."""
    for _, group in itertools.groupby(jobs, lambda job: (type(job), job.batch)):
        batch = list(group)
        alone = batch[0].on_one_core() is not batch[0]
        most = 1 if alone else min(batch[0].together or TOGETHER, TOGETHER)
        for at in range(0, len(batch), most):
            yield batch[at : at + most]


def performed(parcel: bytes) -> Performed:
    """Perform a parcel in a worker, until the scheduler withdraws it."""
    worker = _dask().get_worker()
    task = worker.state.tasks.get(worker.get_current_task())

    def withdrawn() -> bool:
        return task is not None and task.state in ("cancelled", "released", "forgotten")

    try:
        return parcels.perform(parcel, withdrawn)
    except parcels.Withdrawn:
        return Performed((), {})


def _lost(client: Client) -> ClusterLost:
    scheduler = getattr(client.scheduler, "address", None) or "the scheduler"
    return ClusterLost(
        f"the connection to the Dask scheduler {scheduler} is lost",
        advice="all answers until now are stored; start the scheduler and the workers, then run "
        "the same command again",
    )


def _explained(error: Exception) -> Exception:
    """What the failure of a parcel means; the error itself if it is one of weakspot."""
    dask = _dask()
    if isinstance(error, dask.KilledWorker):
        return ToolFailed(
            f"{getattr(error, 'allowed_failures', 0) + 1} workers died performing this",
            advice="workers with more memory may help: dask worker --memory-limit",
        )
    if isinstance(error, ImportError | AttributeError):
        return ToolFailed(
            f"a worker cannot read what it is sent: {error}",
            advice="install weakspot of the same version on every worker",
        )
    if isinstance(error, OSError) and not isinstance(error, dask.comm.CommClosedError):
        return ToolFailed(f"a worker failed: {error}")
    return error
