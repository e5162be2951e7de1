"""A connection to the workers of a Dask scheduler, which perform jobs that are sent as parcels.

In: an address of a running `dask scheduler`, or how many workers to start on this computer; jobs.
Out: futures of Dask, and what became of their jobs. Errors of Dask become errors that say what to
do.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import multiprocessing
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import msgspec

from weakspot.errors import BadInput, MissingTool, ToolFailed, WeakspotError
from weakspot.harness.campaign import parcels
from weakspot.harness.campaign.faults import Faults
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.parcels import OtherBuild, Performed, WorkerFault
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.machines.worker import dask

Client = Any
Future = Any

LOCAL = "local:"
"""What an address begins with that has workers started on this computer."""

SECONDS = 10.0
"""How long the scheduler may take to answer at first."""

ALLOWED = 3
"""So many workers may fail at the same parcel, and one may fail so often in a row: as often as Dask
lets workers die by default (distributed.scheduler.allowed-failures)."""


class ClusterLost(ToolFailed):
    """The scheduler does not answer any more."""


@contextlib.contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the scheduler at the address, or of workers that live as long as the block. It is
    Dask's default client, so that machines of its workers (machines/worker.py) are found.

    Raises MissingTool without Dask, BadInput for what is no address, and ClusterLost.
    """
    distributed = dask()
    with contextlib.ExitStack() as opened:
        target: Any = address
        if address.startswith(LOCAL):
            count = address.removeprefix(LOCAL)
            if not count.isdecimal() or not int(count):
                raise BadInput(
                    f"{address!r} does not say how many workers to start",
                    advice="write for example --cluster local:2",
                )
            target = opened.enter_context(_local(distributed, int(count)))
        try:
            client = distributed.Client(target, timeout=SECONDS)
        except (OSError, ValueError) as error:
            raise ClusterLost(
                f"no Dask scheduler answers at {address}",
                advice="start one with `dask scheduler`, and workers with `dask worker ADDRESS`; "
                "--cluster local:2 starts two workers on this computer",
            ) from error
        yield opened.enter_context(client)


def _local(distributed: Any, workers: int) -> Any:
    """A cluster on this computer. Its workers import the main module as they start, so a program
    without a main guard comes here again in each of them."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)  # the process that starts this worker reports it
    logging.getLogger("distributed.nanny").setLevel(logging.CRITICAL)
    try:
        return distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        )
    except RuntimeError as error:
        raise BadInput(
            f"the workers on this computer did not start: {error}",
            advice='in a program, connect below `if __name__ == "__main__":`, since each worker '
            "imports the program",
        ) from None


class Workers:
    """The workers of a client's scheduler."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._name = uuid.uuid4().hex[:8]
        self._number = itertools.count()
        self._faults = Faults(ALLOWED)
        self._known: dict[str, int] = {}
        self._unfit: dict[str, OtherBuild] = {}

    @contextlib.contextmanager
    def reachable(self) -> Iterator[None]:
        """Raises ClusterLost where the connection is closed inside the block."""
        try:
            yield
        except dask().comm.CommClosedError as error:
            raise self._lost() from error

    def threads(self) -> int:
        """How many parcels they perform at once. Raises ClusterLost."""
        return sum(self.addresses().values())

    def addresses(self) -> dict[str, int]:
        """Where those are that have the engine of this process, and how many parcels each performs
        at once. Raises ClusterLost."""
        try:
            there = self._client.nthreads()
        except (OSError, RuntimeError, TimeoutError) as error:
            raise self._lost() from error
        self._known = {each: count for each, count in there.items() if each not in self._unfit}
        return self._known

    def send(self, parcel: Sequence[Job], failed: Collection[str] = ()) -> Future:
        """Have some worker perform the jobs together; one that has not `failed` at them, if one was
        there lately. Raises ClusterLost, and OtherBuild if no worker can."""
        if self._unfit and not self._known:
            raise next(reversed(self._unfit.values()))
        # the name that Dask's dashboard shows; never used again
        name = f"{type(parcel[0]).__name__.lower()}-{self._name}-{next(self._number)}"
        try:
            others = self._known.keys() - set(failed) if failed or self._unfit else ()
            return self._client.submit(
                performed,
                parcels.pack(parcel),
                key=name,
                pure=False,
                workers=sorted(others) or None,
                allow_other_workers=bool(others),
            )
        except (OSError, RuntimeError) as error:
            raise self._lost() from error

    def finished(self) -> Any:
        """An iterator to which futures are added, and which gives those that have finished."""
        return dask().as_completed(loop=self._client.loop)

    def result(self, future: Future) -> Performed:
        """What became of a parcel. Raises ClusterLost, and what the death of its workers means."""
        try:
            done: Performed = future.result()
            return done
        except CancelledError as error:
            raise self._lost() from error
        except Exception as error:
            raise _explained(error) from error
        finally:
            future.release()

    def outcome(self, future: Future, failed: Collection[str], progress: Progress) -> Performed:
        """What became of a parcel, at which others had `failed`, with the error that left jobs
        unanswered; reports workers that are at fault. Raises ClusterLost, and an error that is none
        of weakspot."""
        try:
            done = self.result(future)
        except ClusterLost:
            raise
        except WeakspotError as error:
            return Performed((), {}, error)
        for line in self.judge(done, failed):
            progress.message(line)
        return done

    def judge(self, done: Performed, failed: Collection[str]) -> Iterator[str]:
        """Have the scheduler retire the workers that are at fault, which this shows: what became of
        a parcel, at which others had `failed`. Those that have another engine are not used any
        more, but others may use them. A line about each."""
        if isinstance(done.error, OtherBuild):
            if done.worker not in self._unfit:
                yield f"{done.error.place} is not used: {done.error.message}"
            self._unfit[done.worker] = done.error
            self.addresses()
        elif done.error is None:
            self._faults.succeeded(done.worker, failed)
        elif isinstance(done.error, WorkerFault):
            self._faults.failed(done.worker, done.error.message)
        for worker, times, why in self._faults.at_fault():
            # nobody waits until it has finished what it is doing
            self._client.loop.add_callback(
                self._client.scheduler.retire_workers, workers=[worker], close_workers=True
            )
            yield f"{worker} is retired, since it failed {times} times where others did not: {why}"

    def results(self, futures: Iterable[Future]) -> Iterator[tuple[Future, Performed]]:
        """What became of those that have finished; the rest is cancelled."""
        rest = []
        for future in futures:
            if future.status == "finished":
                with contextlib.suppress(Exception):
                    yield future, future.result(timeout=SECONDS)
            else:
                rest.append(future)
        if rest:
            with contextlib.suppress(Exception):
                self._client.cancel(rest, force=True)

    def _lost(self) -> ClusterLost:
        scheduler = getattr(self._client.scheduler, "address", None) or "the scheduler"
        return ClusterLost(
            f"the connection to the Dask scheduler {scheduler} is lost",
            advice="all answers until now are stored; start the scheduler and the workers, then "
            "run the same command again",
        )


def failed_at(done: Performed, failed: tuple[str, ...]) -> tuple[str, ...] | None:
    """The workers that have failed at a parcel, of which this became after these `failed`; None if
    it is not to be tried again."""
    if isinstance(done.error, OtherBuild):
        return failed  # it was not performed
    ours = isinstance(done.error, MissingTool | ToolFailed)
    return (*failed, done.worker) if ours and done.worker and len(failed) < ALLOWED else None


def is_unfinished(future: Future) -> bool:
    """Whether the worker of a future that has finished died with the result."""
    return future.status in ("pending", "lost")


def performed(parcel: bytes) -> Performed:
    """Perform a parcel in a worker, until the scheduler withdraws it."""
    worker = dask().get_worker()
    task = worker.state.tasks.get(worker.get_current_task())

    def withdrawn() -> bool:
        return task is not None and task.state in ("cancelled", "released", "forgotten")

    try:
        done = parcels.perform(parcel, withdrawn)
    except parcels.Withdrawn:
        done = Performed((), {})
    except (ImportError, AttributeError) as error:
        done = Performed((), {}, _unreadable(error))
    if isinstance(done.error, OtherBuild):
        done.error.place = f"worker {worker.name} at {worker.address}"
    return msgspec.structs.replace(done, worker=worker.address)


def _explained(error: Exception) -> Exception:
    """What the failure of a parcel means; the error itself if it is one of weakspot."""
    if isinstance(error, dask().KilledWorker):
        return ToolFailed(
            f"{getattr(error, 'allowed_failures', 0) + 1} workers died performing this",
            advice="workers with more memory may help: dask worker --memory-limit",
        )
    if isinstance(error, ImportError | AttributeError):
        return _unreadable(error)
    return error


def _unreadable(error: ImportError | AttributeError) -> ToolFailed:
    return ToolFailed(
        f"a worker cannot read what it is sent: {error}",
        advice="install weakspot of the same version on every worker",
    )
