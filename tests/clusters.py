"""A cluster of processes that tests kill, and one that is none: workers in this process."""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from weakspot.harness.campaign import cluster, parcels
from weakspot.harness.campaign.cluster import ClusterExecutor
from weakspot.harness.campaign.connection import Workers
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.parcels import Performed


class Cluster:
    """A scheduler and two workers on this computer, each of which may be killed. The first workers
    are started with `options`."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._folder = folder
        self.start_scheduler(*options)

    def start_scheduler(self, *options: str) -> None:
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self._port))
        self.workers = [self.start_worker(*options), self.start_worker(*options)]
        self._wait()

    def _wait(self) -> None:
        """Wait until the scheduler answers: a command gives it ten seconds, a loaded computer
        takes longer to start it."""
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port), timeout=1.0).close()
                return
            time.sleep(0.1)
        raise AssertionError("the scheduler does not start")

    def start_worker(self, *options: str) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny", *options)

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{what}"
        command = [sys.executable, "-m", module, "--dashboard-address", ":0", *arguments]
        with (self._folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def kill_worker(self, at: int) -> None:
        self.kill(self.workers[at])
        self.workers[at] = self.start_worker()

    def kill_scheduler(self) -> None:
        for each in (self.scheduler, *self.workers):
            self.kill(each)

    def close(self) -> None:
        for each in (*self.workers, self.scheduler):
            self.kill(each)


class Future:
    """One of Dask's, as far as it is used."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.parcel, self.status = parcels.pack(jobs), "finished"

    def cancel(self) -> None:
        self.status = "cancelled"


class InProcess(Workers):
    """Workers that perform what they are sent one after the other, in any order; some die first. No
    share knows of another one that is under way."""

    def __init__(self, threads: int, seed: int = 1) -> None:
        self.shares, self.deaths, self.most = 0, 0, 0
        self._threads, self._chance = threads, random.Random(seed)
        self._sent: list[Future] = []

    def threads(self) -> int:
        return self._threads

    def send(self, parcel: Sequence[Job], failed: Collection[str] = ()) -> Future:  # noqa: ARG002
        return Future(parcel)

    def judge(self, done: Performed, failed: Collection[str]) -> Iterator[str]:  # noqa: ARG002
        yield from ()

    def finished(self) -> InProcess:
        return self

    def add(self, future: Future) -> None:
        self._sent.append(future)
        self.most = max(self.most, len(self._sent))

    def __next__(self) -> Future:
        future = self._sent.pop(self._chance.randrange(len(self._sent)))
        died = self._chance.random() < 0.1
        self.deaths += died
        future.status = "lost" if died else "finished"
        return future

    def result(self, future: Future) -> Performed:
        self.shares += 1
        return parcels.perform(future.parcel)

    def results(self, futures: Iterable[Any]) -> Iterator[tuple[Any, Performed]]:
        yield from itertools.compress(futures, ())  # none has finished


def in_process(
    monkeypatch: pytest.MonkeyPatch, threads: int = 2
) -> tuple[ClusterExecutor, InProcess]:
    """The executor of a cluster whose workers are in this process, and these."""
    workers = InProcess(threads)
    monkeypatch.setattr(cluster, "Workers", lambda _: workers)
    return ClusterExecutor(None), workers
