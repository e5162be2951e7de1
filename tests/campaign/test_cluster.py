"""A cluster answers what this computer answers, whichever of its processes dies."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from clusters import Cluster
from fakes import make_test

from weakspot import api
from weakspot.errors import BadInput, MissingTool
from weakspot.generators.source.program import read_program
from weakspot.harness.campaign import connection, parcels
from weakspot.harness.campaign.check_jobs import Check
from weakspot.harness.campaign.cluster import ClusterExecutor
from weakspot.harness.campaign.connection import ClusterLost, connected
from weakspot.harness.campaign.executor import Receiver, ask
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.machine_jobs import RunTest
from weakspot.harness.campaign.plan import explorations, under
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus.material import gather
from weakspot.harness.corpus.models import resolve
from weakspot.harness.machines import Machine
from weakspot.harness.runners import RUNNERS
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.verdict import Verdict

WHAT = ("store_buffering",)
MODELS = ("sc", "tso")
CAMPAIGN = (*WHAT, "--for", "0", "--checker", "engine", "--model", ",".join(MODELS))
ENDS = 600.0
"""How many seconds a campaign of some seconds may take on a computer with other work."""
ANSWERS = ("explorations.jsonl", "verdicts.jsonl")


# --- parcels ------------------------------------------------------------------------------------


def test_a_program_is_the_same_in_another_process(tmp_path: Path) -> None:
    source = tmp_path / "flags.c"
    source.write_text(
        "#include <stdatomic.h>\n#include <threads.h>\natomic_int x;\n"
        "int raise(void *_) {\n  atomic_store(&x, 1);\n  return 0;\n}\n"
        "int main(void) {\n  thrd_t t;\n  thrd_create(&t, raise, 0);\n  thrd_join(t, 0);\n}\n"
    )
    program = read_program(source)
    site = program.orders.index("sc")
    changed = program.with_orders({site: "rlx"}, fences=[(site, "before", "sc")])
    changed = changed.with_parameters([3])
    for each in (program, changed):
        same = pickle.loads(pickle.dumps(each))
        assert (same.digest, same.sites, same.orders) == (each.digest, each.sites, each.orders)
        assert same.lowered.fingerprint == each.lowered.fingerprint
    assert changed.orders != program.orders


def test_a_worker_needs_no_file_of_the_user(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "sc.cat").write_text("acyclic po | rf | co | fr as sc\n")
    (folder / "mine.cat").write_text('"mine"\ninclude "cos.cat"\ninclude "parts/sc.cat"\n')
    test = make_test("SB")
    model = resolve(folder / "mine.cat")
    jobs = [Check(key="a", test=test, model=model, checker=Engine(), seconds=5.0)]
    parcel = parcels.pack(jobs)
    here = parcels.perform(parcel)
    shutil.rmtree(folder)
    there = parcels.perform(parcel)
    (key, answer, final), (_, same, _) = there.answers[0], here.answers[0]
    assert isinstance(answer, Verdict)
    assert isinstance(same, Verdict)
    assert (key, answer.observation, final) == ("a", "Never", True)
    assert answer.states == same.states


def test_what_an_exploration_leaves_open_comes_back(tmp_path: Path) -> None:
    material = gather(["seqlock"], under=["rc20"])
    asked = under([resolve("rc20")])
    frontiers = Frontiers(tmp_path / "frontiers")

    def explored(executions: int) -> Exploration:
        limits = Bounds(executions=executions)
        jobs = explorations(material, asked, EngineExplorer(jobs=1), limits, frontiers).jobs
        job = max((each for each in jobs if isinstance(each, Explore)), key=_size)
        done = parcels.perform(parcels.pack([job]))
        done.store_frontiers()
        ((_, answer, _),) = done.answers
        assert isinstance(answer, Exploration)
        return answer

    first = explored(2)
    assert first.result == "Unknown"
    assert len(list((tmp_path / "frontiers").iterdir())) == 1
    assert explored(1_000_000).resumed
    assert not list((tmp_path / "frontiers").iterdir())


def _size(job: Explore) -> tuple[int, str]:
    return len(job.program.generated.program.sites), job.program.name


def test_an_exploration_that_nobody_waits_for_ends() -> None:
    material = gather(["seqlock"], under=["rc20"])
    jobs = explorations(
        material, under([resolve("rc20")]), EngineExplorer(), Bounds(), Frontiers()
    ).jobs
    with pytest.raises(parcels.Withdrawn):
        parcels.perform(parcels.pack(jobs[:1]), lambda: True)


class Here:
    """An executor that notes what it performs."""

    def __init__(self) -> None:
        self.performed: list[str] = []

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:  # noqa: ARG002
        self.performed += [job.key for job in jobs]


def test_jobs_of_machines_are_performed_by_this_process() -> None:
    machine = Machine("local", "x86_64")
    runner = RUNNERS.default
    jobs = [RunTest(key="a", test=make_test("SB"), on=machine, runner=runner, seconds=1.0)]
    here = Here()
    ask(jobs, MemoryStore(), ClusterExecutor(None, here=here))
    assert here.performed == ["a"]


# --- errors -------------------------------------------------------------------------------------


def test_without_dask_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingTool) as error, connected("local:2"):
        pass
    assert error.value.advice == "pip install 'weakspot[cluster]'"


def test_what_is_no_cluster_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    for address in ("local:", "local:0", "local:many"):
        with pytest.raises(BadInput, match="how many workers"), connected(address):
            pass
    monkeypatch.setattr(connection, "SECONDS", 1.0)
    with pytest.raises(ClusterLost, match="no Dask scheduler answers"), connected("tcp://[::1]:1"):
        pass


# --- a cluster ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a campaign on this computer stores."""
    folder = tmp_path_factory.mktemp("local") / "campaign"
    api.campaign(WHAT, models=MODELS, checkers=("engine",), seconds_run=0.0, folder=folder)
    return stored(folder)


def stored(folder: Path) -> list[str]:
    """The answers in a campaign's folder without the time that they took."""
    lines = [
        json.loads(line)
        for name in ANSWERS
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
    ]
    return sorted(
        json.dumps({**each, "seconds": 0, "evidence": None}, sort_keys=True) for each in lines
    )


def count(folder: Path) -> int:
    """How many answers are stored."""
    files = [folder / each for each in ANSWERS]
    return sum(each.read_bytes().count(b"\n") for each in files if each.exists())


def finished(folder: Path, cluster: Cluster, code: int = 0) -> str:
    """What the campaign says on stderr that ends with this code."""
    with started(folder, cluster) as command:
        _, errors = command.communicate(timeout=ENDS)
    assert command.returncode == code, errors
    return errors


def started(folder: Path, cluster: Cluster) -> subprocess.Popen[str]:
    weakspot = str(Path(sys.executable).with_name("weakspot"))
    where = ("--output", str(folder), "--cluster", cluster.address)
    return subprocess.Popen(
        [weakspot, "test", *CAMPAIGN, *where],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_campaign_on_workers_of_this_computer_is_the_same(
    tmp_path: Path, expected: list[str]
) -> None:
    pytest.importorskip("distributed")
    with connected("local:2") as client:
        api.campaign(
            WHAT,
            models=MODELS,
            checkers=("engine",),
            seconds_run=0.0,
            folder=tmp_path / "campaign",
            executor=ClusterExecutor(client),
        )
    assert stored(tmp_path / "campaign") == expected


@pytest.mark.parametrize("victim", ["worker", "scheduler", "client"])
def test_whatever_is_killed_the_stores_are_the_same(
    victim: str,
    tmp_path: Path,
    cluster: Cluster,
    expected: list[str],
    request: pytest.FixtureRequest,
) -> None:
    times = 17 if request.config.getoption("--full") else 2
    for seed in range(times):
        chance = random.Random(f"{victim} {seed}")
        folder = tmp_path / str(seed)
        moment = chance.randrange(len(expected))
        with started(folder, cluster) as command:
            while command.poll() is None and count(folder) < moment:
                time.sleep(0.002)
            if victim == "worker":
                cluster.kill_worker(chance.randrange(2))
            elif victim == "scheduler":
                cluster.kill_scheduler()
            else:
                command.kill()
            _, errors = command.communicate(timeout=ENDS)
        if victim == "worker":
            assert command.returncode == 0, errors
        if victim == "scheduler":
            cluster.start_scheduler()
            assert command.returncode in (0, 2), errors
            advised = "run the same command again" in errors
            # it was killed before the command has reached it
            advised |= moment == 0 and "no Dask scheduler answers" in errors
            assert command.returncode == 0 or advised, errors
        if command.returncode:
            finished(folder, cluster)
        assert stored(folder) == expected, f"{victim} killed after {moment} answers"


def test_workers_of_another_build_are_not_used(tmp_path: Path, expected: list[str]) -> None:
    pytest.importorskip("distributed")
    other = tmp_path / "other.py"
    other.write_text("import weakspot._engine\nweakspot._engine.__version__ = '0.0.0+other'\n")
    folder, cluster = tmp_path / "campaign", Cluster(tmp_path, "--preload", str(other))
    try:
        errors = finished(folder, cluster, 2)
        assert "error: the worker's engine is 0.0.0+other, and that of this command is " in errors
        assert "\n  --> worker tcp://127.0.0.1:" in errors
        assert "install the same wheel of weakspot" in errors
        assert count(folder) == 0
        cluster.workers.append(cluster.start_worker())
        with connected(cluster.address) as client:
            client.wait_for_workers(3)
        errors = finished(folder, cluster)
        assert errors.count(" is not used: the worker's engine is ") <= 2
    finally:
        cluster.close()
    assert stored(folder) == expected


def test_ctrl_c_stores_what_is_known(tmp_path: Path, cluster: Cluster, expected: list[str]) -> None:
    folder = tmp_path / "campaign"
    with started(folder, cluster) as command:
        while command.poll() is None and count(folder) < 20:
            time.sleep(0.002)
        os.kill(command.pid, signal.SIGINT)
        _, errors = command.communicate(timeout=ENDS)
    assert command.returncode == 130, errors
    assert "run the same command again to resume" in errors
    assert 20 <= count(folder) < len(expected)
    finished(folder, cluster)
    assert stored(folder) == expected
