"""What fails on one worker of a cluster is tried on others, and a worker that fails at everything
gets no more work."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator, Sequence
from typing import Any, Self

import pytest

from weakspot.errors import MissingTool, WeakspotError
from weakspot.harness.campaign.cluster import ClusterExecutor
from weakspot.harness.campaign.connection import connected
from weakspot.harness.campaign.executor import Events, ask
from weakspot.harness.campaign.faults import Faults
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.progress import Quiet
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.values.verdict import Verdict


def test_a_worker_is_at_fault_if_others_can_do_what_it_cannot() -> None:
    faults = Faults(2)
    for _ in range(5):
        faults.failed("a", "full")
        faults.failed("b", "full")
    assert faults.at_fault() == [], "nobody could do it"
    faults.succeeded("c", ["a"])
    assert faults.at_fault() == [("a", 5, "full")]
    assert faults.at_fault() == []
    faults.failed("d", "full")
    faults.succeeded("d", [])
    faults.failed("d", "full")
    faults.succeeded("c", ["d"])
    assert faults.at_fault() == [], "it can do something"
    for _ in range(3):
        faults.failed("e", "full")
    faults.succeeded("e", ["e"])
    for _ in range(3):
        faults.failed("e", "full")
    assert faults.at_fault() == [], "it was no other worker that could do it"


VERDICT = Verdict(
    test="SB", model="sc", checker="simulated", observation="Never", condition_holds=False
)


class Fragile(Job, frozen=True, kw_only=True):
    """What only some workers can do. Workers are threads of this process."""

    full: tuple[int, ...] = ()
    lacking: tuple[int, ...] = ()

    @property
    def phase(self) -> str:
        return "simulating"

    @property
    def batch(self) -> str:
        return "simulating"

    @property
    def together(self) -> int:
        return 1

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        import distributed

        name = distributed.get_worker().name
        for job in jobs:
            if name in job.full:
                raise OSError(errno.ENOSPC, "No space left on device")
            if name in job.lacking:
                raise MissingTool("herd7 is not installed")
            time.sleep(0.02)
            sink.answered(job, VERDICT)


class Lines(Quiet):
    """The messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)


class Noted(Events):
    def __init__(self) -> None:
        self.errors: list[str] = []

    def failed(self, job: Job, error: WeakspotError) -> None:  # noqa: ARG002
        self.errors.append(error.message)


@pytest.fixture
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, connected(cluster.scheduler_address) as client:
        yield client


def asked(jobs: Sequence[Job], client: Any) -> tuple[MemoryStore, list[str], list[str]]:
    store, lines, noted = MemoryStore(), Lines(), Noted()
    ask(jobs, store, ClusterExecutor(client), progress=lines, events=noted)
    return store, lines.lines, noted.errors


def test_a_worker_with_a_full_disk_is_retired(client: Any) -> None:
    address = next(
        each
        for each, known in client.scheduler_info(n_workers=-1)["workers"].items()
        if known["name"] == 1
    )
    jobs = [Fragile(key=f"{at}", full=(1,)) for at in range(60)]
    store, lines, errors = asked(jobs, client)
    assert (store.count, errors) == (60, [])
    assert len(lines) == 1
    assert lines[0].startswith(f"{address} is retired")
    assert lines[0].endswith("No space left on device")
    for _ in range(100):
        if address not in client.nthreads():
            break
        time.sleep(0.1)
    assert len(client.nthreads()) == 2


def test_what_fails_everywhere_is_reported_for_each_job_and_retires_nobody(client: Any) -> None:
    jobs = [Fragile(key=f"{at}", full=(0, 1, 2)) for at in range(20)]
    store, lines, errors = asked(jobs, client)
    assert (store.count, lines) == (0, [])
    assert errors == ["a worker failed: No space left on device"] * len(jobs)
    assert len(client.nthreads()) == 3


def test_what_one_worker_lacks_is_done_by_others(client: Any) -> None:
    jobs = [Fragile(key=f"{at}", lacking=(0, 2)) for at in range(20)]
    store, lines, errors = asked(jobs, client)
    assert (store.count, lines, errors) == (20, [], [])
    assert len(client.nthreads()) == 3, "it may be able to do other things"
