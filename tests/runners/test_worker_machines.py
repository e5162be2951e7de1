"""Machines of a cluster's workers: they run what was compiled here, one program at a time whoever
asks, and when a worker dies only what it was doing is lost."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from litmus_texts import FENCE, sb
from says import assert_runs_as_here, program

from weakspot.errors import BadInput, MissingTool, WeakspotError
from weakspot.harness import machines
from weakspot.harness.campaign.connection import connected
from weakspot.harness.campaign.executor import Events, LocalExecutor, ask
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.machine_jobs import RunTest
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.machines import Lost, Machine, local, worker
from weakspot.harness.runners.native import Native
from weakspot.harness.values.histogram import Histogram
from weakspot.system import tools
from weakspot.system.tools import Tool

Need = Callable[[str], Tool]

pytestmark = pytest.mark.usefixtures("cache")


class Cluster:
    """A scheduler in this process, workers of which come and go."""

    def __init__(self, started: Any) -> None:
        self._started = started
        self.address: str = started.scheduler_address
        self._workers: list[Any] = []

    def announce(self, **resources: float) -> Any:
        """One more worker, with two threads."""
        distributed = pytest.importorskip("distributed")

        async def start() -> Any:
            return await distributed.Worker(
                self.address, nthreads=2, resources=resources, dashboard=False
            )

        self._workers.append(self._started.sync(start))
        return self._workers[-1]

    def dies(self, worker: Any) -> None:
        """The worker leaves, whatever it is doing."""
        self._workers.remove(worker)
        self._started.sync(worker.close, timeout=1, executor_wait=False)

    def close(self) -> None:
        for each in list(self._workers):
            self.dies(each)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as started,
        contextlib.closing(Cluster(started)) as cluster,
    ):
        yield cluster


@pytest.fixture
def board(cluster: Cluster) -> Iterator[Machine]:
    cluster.announce(board=1)
    with connected(cluster.address):
        yield machines.resolve("worker:board")


def test_a_program_runs_there_as_it_would_here(board: Machine, tmp_path: Path) -> None:
    assert (board.arch, board.cores) == (local.arch(), local.machine().cores)
    assert_runs_as_here(board, tmp_path)


def test_all_its_processors_are_used(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although Dask starts its workers with OMP_NUM_THREADS=1, which nproc obeys."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    cluster.announce(board=1)
    with connected(cluster.address):
        assert machines.resolve("worker:board").cores == local.machine().cores


def test_a_program_is_sent_once(
    board: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = program(board, tmp_path)
    sent: list[bytes] = []
    scatter = worker._client().scatter

    def scattered(content: bytes, **rest: Any) -> Any:
        sent.append(content)
        return scatter(content, **rest)

    monkeypatch.setattr(worker._client(), "scatter", scattered)
    with machines.opened(board) as at:
        for word in "one", "two":
            assert at.run(made, [word], seconds=5).out == f"[{word}]"
    assert sent == [made.read_bytes()]


def test_one_program_at_a_time_runs_on_a_machine(
    cluster: Cluster, board: Machine, tmp_path: Path
) -> None:
    """Although its worker has two threads, and two commands use it."""
    made = program(board, tmp_path)
    distributed = pytest.importorskip("distributed")
    spans: list[tuple[float, ...]] = []

    def use(client: Any) -> None:
        there = worker.There(client, "board", 0.0)
        for _ in range(3):
            ended = there.run(made, ["nap"], seconds=30)
            spans.append(tuple(map(float, ended.out.split())))
        there.close()

    with contextlib.ExitStack() as opened:
        clients = [
            opened.enter_context(distributed.Client(cluster.address, set_as_default=False))
            for _ in range(2)
        ]
        users = [threading.Thread(target=use, args=(client,)) for client in clients]
        for each in users:
            each.start()
        for each in users:
            each.join()
    assert len(spans) == 6
    spans.sort()
    for (_, end), (begin, _) in itertools.pairwise(spans):
        assert end <= begin


class Noted(Events):
    def __init__(self) -> None:
        self.errors: list[str] = []

    def failed(self, job: Job, error: WeakspotError) -> None:  # noqa: ARG002
        self.errors.append(error.message)


def test_what_a_worker_that_dies_was_doing_is_lost_and_the_rest_runs(
    cluster: Cluster, need: Need
) -> None:
    need("gcc")
    first = cluster.announce(board=1)
    with connected(cluster.address):
        machine = machines.resolve("worker:board")
        runner = Native()
        jobs = [
            RunTest(key=each.name, test=each, on=machine, runner=runner, seconds=0.3)
            for each in (sb(), sb("SB+fences", FENCE), sb("SB+again"))
        ]
        store, noted = Replaced(cluster, first), Noted()
        ask(jobs, store, LocalExecutor(gauge=None), events=noted)
        assert noted.errors
        assert all("worker:board is not there" in each for each in noted.errors)
        left = [job for job in jobs if not store.has(job.key)]
        assert len(left) == 1
        ask(left, store, LocalExecutor(gauge=None))
        found = [store.get(job.key) for job in jobs]
    histograms = [each for each in found if isinstance(each, Histogram)]
    assert [(each.machine, each.reason) for each in histograms] == [("worker:board", "")] * 3
    assert all(each.iterations and each.control_tests[0].iterations for each in histograms)
    assert histograms[1].target == 0


class Replaced(MemoryStore):
    """Has the worker die, and another one announce its machine, after the first answer."""

    def __init__(self, cluster: Cluster, worker: Any) -> None:
        super().__init__()
        self._cluster, self._worker = cluster, worker

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        super().put(key, answer, final=final)
        if self._worker is not None:
            self._cluster.dies(self._worker)
            self._cluster.announce(board=1)
            self._worker = None


def test_a_machine_that_dies_in_the_middle_is_lost(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_EVERY", 0.2)
    there = cluster.announce(board=1)
    with connected(cluster.address):
        machine = machines.resolve("worker:board")
        made = program(machine, tmp_path)
        with machines.opened(machine) as at:
            at.shell("true")

            def die() -> None:
                time.sleep(0.5)
                cluster.dies(there)

            dying = threading.Thread(target=die)
            dying.start()
            with pytest.raises(Lost, match="its worker is gone"):
                at.run(made, ["sleep"], seconds=20)
            dying.join()
        with pytest.raises(Lost, match="no worker announces it"):
            machines.resolve("worker:board")


def test_two_workers_are_not_one_machine(cluster: Cluster) -> None:
    cluster.announce(board=1)
    cluster.announce(board=1, other=1)
    with connected(cluster.address):
        with pytest.raises(Lost, match="2 workers announce board"):
            machines.resolve("worker:board")
        assert machines.resolve("worker:other").name == "worker:other"


def test_without_a_cluster_the_error_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(MissingTool) as error:
        machines.resolve("worker:board")
    assert "--cluster ADDRESS" in (error.value.advice or "")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingTool) as error:
        machines.resolve("worker:board")
    assert error.value.advice == tools.advice(worker.DASK)
    for name in ("worker:", "worker:a b", "worker:a=1", "worker"):
        with pytest.raises(BadInput):
            machines.check(name)
