"""Workers that share an exploration find what one worker finds, whichever of them dies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from clusters import Cluster, Future, InProcess

from weakspot.errors import Interrupted, ToolFailed
from weakspot.harness.campaign import divided_exploration
from weakspot.harness.campaign.connection import ClusterLost, Workers, connected
from weakspot.harness.campaign.executor import Executor, LocalExecutor, Receiver, ask
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import RESUMES, Frontiers
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.parcels import Performed
from weakspot.harness.campaign.plan import explorations, under
from weakspot.harness.campaign.shares import SharedExplorations, is_divisible
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.checkers.explorer import EngineExplorer, Share
from weakspot.harness.corpus.material import gather
from weakspot.harness.corpus.models import resolve
from weakspot.harness.values.bounds import ALL, REDUCTIONS, Bounds, Part
from weakspot.harness.values.exploration import Exploration

MODELS = ("sc", "tso", "rc11", "rc20")

COUNTERS = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
static void *work(void *_) {
  if (atomic_fetch_add_explicit(&x, 1, memory_order_relaxed) == 2)
    atomic_store_explicit(&y, 1, memory_order_release);
  return (void *)(long)atomic_load_explicit(&y, memory_order_acquire);
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""

# a race, a thread that spins, a barrier, a lock, a condition variable, a retry
RACE = COUNTERS.replace("atomic_int x, y;", "atomic_int x, y; int plain;").replace(
    "  return (void", "  if (plain == 0) plain = 1;\n  return (void"
)
SPIN = """\
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int turn, seen;
static void *work(void *number) {
  while (atomic_load_explicit(&turn, memory_order_acquire) != (int)(long)number);
  atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed);
  atomic_store_explicit(&turn, (int)(long)number + 1, memory_order_release);
  return 0;
}
static void *look(void *_) {
  assert(atomic_load_explicit(&seen, memory_order_relaxed) < 3);
  return 0;
}
int main(void) {
  pthread_t threads[5];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 3; i < 5; i++) pthread_create(&threads[i], 0, look, 0);
  for (int i = 0; i < 5; i++) pthread_join(threads[i], 0);
}
"""
BARRIER = """\
#include <pthread.h>
#include <stdatomic.h>
pthread_barrier_t meet;
atomic_int x;
static void *work(void *_) {
  atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
  pthread_barrier_wait(&meet);
  return (void *)(long)atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&meet, 0, 3);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
"""
SLEEP = """\
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int items;
static void *take(void *_) {
  pthread_mutex_lock(&m);
  while (!items) pthread_cond_wait(&c, &m);
  items--;
  pthread_mutex_unlock(&m);
  return 0;
}
static void *put(void *_) {
  pthread_mutex_lock(&m);
  items++;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, i < 2 ? take : put, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""
RETRY = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int top;
struct node { int next; } nodes[4];
static void *push(void *number) {
  int at = (int)(long)number, old = atomic_load_explicit(&top, memory_order_relaxed);
  do nodes[at].next = old;
  while (!atomic_compare_exchange_weak_explicit(&top, &old, at, memory_order_release,
                                                memory_order_relaxed));
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, push, (void *)(i + 1));
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
"""
PROGRAMS = {
    "counters": COUNTERS,
    "race": RACE,
    "spin": SPIN,
    "barrier": BARRIER,
    "sleep": SLEEP,
    "retry": RETRY,
}
CORPUS = ("chase_lev", "lost_wakeups", "rcu", "seqlock", "spsc_cached")


def questions(
    what: Sequence[str],
    *,
    models: Sequence[str] = MODELS,
    part: Part = ALL,
    seconds: float = 60.0,
    frontiers: Frontiers = Frontiers(),  # noqa: B008
) -> list[Explore]:
    material = gather(what, under=models)
    asked = under([resolve(model) for model in models])
    explorer, bounds = EngineExplorer(jobs=1, part=part), Bounds(seconds=seconds)
    jobs = explorations(material, asked, explorer, bounds, frontiers).jobs
    return [job for job in jobs if isinstance(job, Explore)]


class Sharing:
    """An executor that has these workers share each exploration."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:
        explored = [job for job in jobs if isinstance(job, Explore) and is_divisible(job)]
        SharedExplorations(self._workers, explored, to).perform()


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker explores a few executions of a share, however long that takes."""
    _few(monkeypatch)


def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = EngineExplorer.explore_share

    def few(explorer: EngineExplorer, *given: Any) -> Share | None:
        generated, model, bounds, share, _ = given
        bounds = msgspec.structs.replace(bounds, executions=40)
        return whole(explorer, generated, model, bounds, share, 600.0)

    monkeypatch.setattr(EngineExplorer, "explore_share", few)


def answers(jobs: Sequence[Explore], executor: Executor) -> list[Exploration]:
    """The answers, without the time that they took and what they rest on."""
    store = MemoryStore()
    ask(jobs, store, executor)
    found = [store.get(job.key) for job in jobs]
    explorations = [each for each in found if isinstance(each, Exploration)]
    assert len(explorations) == len(found)
    return [msgspec.structs.replace(each, seconds=0.0, evidence=None) for each in explorations]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.c").write_text(text)
    return [str(folder / f"{name}.c") for name in PROGRAMS]


@pytest.mark.usefixtures("slices")
def test_workers_find_what_one_core_finds(
    programs: list[str], request: pytest.FixtureRequest
) -> None:
    full = request.config.getoption("--full")
    jobs = questions([*programs, "ttas_lock", *(CORPUS if full else ())])
    here = answers(jobs, LocalExecutor())
    for workers in (1, 2) if full else (2,):
        sharing = InProcess(workers)
        assert answers(jobs, Sharing(sharing)) == here
        assert sharing.shares > 200
        assert sharing.deaths > 10


@pytest.mark.usefixtures("slices")
def test_workers_find_the_same_without_reductions(programs: list[str]) -> None:
    part = Part(without=REDUCTIONS)
    programs = [each for each in programs if not each.endswith("race.c")]  # it has many
    jobs = questions(programs, models=["rc11"], part=part)
    found = answers(jobs, Sharing(InProcess(3)))
    assert found == answers(jobs, LocalExecutor())


@pytest.mark.usefixtures("slices")
def test_what_is_stored_at_any_moment_resumes_without_a_loss(
    programs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(divided_exploration, "STORED", 0.0)
    monkeypatch.setattr(divided_exploration, "DEAREST", 0)
    part = Part(without=("symmetry",))
    frontiers = Frontiers(tmp_path / "frontiers")
    (job,) = questions(programs[:1], models=["rc11"], part=part, frontiers=frontiers)
    path = job.frontier.path
    assert path is not None
    stored: list[bytes] = []

    class Watched(InProcess):
        def __next__(self) -> Future:
            assert path is not None
            if path.exists():
                stored.append(path.read_bytes())
            return super().__next__()

    (whole,) = answers([job], Sharing(Watched(2)))
    assert not path.exists()
    assert len(stored) > 10
    for content in stored[:: len(stored) // 8]:
        path.write_bytes(content)
        (found,) = answers([job], LocalExecutor())
        assert 0 < found.resumed <= found.executions
        assert msgspec.structs.replace(found, resumed=0) == whole


@pytest.mark.usefixtures("slices")
def test_ctrl_c_stores_what_is_open_and_workers_resume_it(
    programs: list[str], tmp_path: Path
) -> None:
    frontiers = Frontiers(tmp_path)
    part = Part(without=("symmetry",))
    jobs = questions(programs[:1], models=["sc", "rc11"], part=part, frontiers=frontiers)

    class Stopped(InProcess):
        def __next__(self) -> Future:
            if self.shares == 4:
                raise KeyboardInterrupt
            return super().__next__()

    store = MemoryStore()
    with pytest.raises(Interrupted):
        ask(jobs, store, Sharing(Stopped(2)))
    first = store.get(jobs[0].key)
    assert isinstance(first, Exploration)
    assert (first.result, store.has(jobs[0].key)) == ("Unknown", False)
    found = answers(jobs, Sharing(InProcess(2)))
    assert found[0].resumed == first.executions
    again = [msgspec.structs.replace(each, resumed=0) for each in found]
    assert again == answers(jobs, LocalExecutor())


def test_a_time_limit_leaves_the_rest_open(programs: list[str], tmp_path: Path) -> None:
    many = tmp_path / "many.c"
    many.write_text(Path(programs[0]).read_text().replace("4", "12"))
    part = Part(without=("symmetry",))
    frontiers = Frontiers(tmp_path / "frontiers")
    (job,) = questions([str(many)], models=["sc"], seconds=0.5, part=part, frontiers=frontiers)
    (first,) = answers([job], Sharing(InProcess(2)))
    (second,) = answers([job], Sharing(InProcess(2)))
    for each in (first, second):
        assert each.result == "Unknown"
        assert "time limit of 0.5 s" in each.reasons
        assert each.incomplete[-1] == RESUMES
    assert 0 < first.executions == second.resumed < second.executions


@pytest.mark.usefixtures("slices")
def test_what_waits_for_a_worker_has_the_time_that_is_left_then(programs: list[str]) -> None:
    (job,) = questions(
        programs[:1], models=["rc11"], seconds=12.0, part=Part(without=("symmetry",))
    )
    sent: dict[Future, float] = {}
    most = 0.0

    class Noting(InProcess):
        def send(self, parcel: Sequence[Job], failed: Collection[str] = ()) -> Future:
            nonlocal most
            (share,) = parcel
            assert isinstance(share, divided_exploration.ExploreShare)
            future = super().send(parcel, failed)
            sent[future] = share.seconds
            most = max(most, sum(sent.values()))
            return future

        def result(self, future: Future) -> Performed:
            del sent[future]
            return super().result(future)

    (found,) = answers([job], Sharing(Noting(1)))
    assert found.result == "Safe"
    first, last = divided_exploration.FIRST, 12.0 * divided_exploration.QUARTER
    assert 5.0 < most <= 12.0 - first - last


def test_what_cannot_be_shared_is_explored_by_one_worker(
    programs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = questions(programs[:1], models=["rc11"])
    here = answers([job], LocalExecutor())
    monkeypatch.setattr(EngineExplorer, "explore_share", lambda *_: None)
    assert answers([job], Sharing(InProcess(2))) == here


def test_a_share_that_fails_is_reported_and_the_rest_stays_open(
    programs: list[str], tmp_path: Path
) -> None:
    frontiers = Frontiers(tmp_path)
    part = Part(without=("symmetry",))
    (job,) = questions(programs[:1], models=["rc11"], part=part, frontiers=frontiers)
    message = "3 workers died performing this"

    class Failing(InProcess):
        def result(self, future: Future) -> Performed:
            done = super().result(future)
            if self.shares > 3:
                raise ToolFailed(message)
            return done

    with pytest.MonkeyPatch.context() as patched:
        _few(patched)
        with pytest.raises(ToolFailed, match=message):
            answers([job], Sharing(Failing(2)))
        (found,) = answers([job], Sharing(InProcess(2)))
    assert found.resumed
    (whole,) = answers([msgspec.structs.replace(job, key="other")], LocalExecutor())
    assert msgspec.structs.replace(found, resumed=0) == whole


def test_a_worker_is_killed_in_the_middle(
    programs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(divided_exploration, "FIRST", 0.05)
    monkeypatch.setattr(divided_exploration, "SLICE", 0.1)
    many = tmp_path / "many.c"
    many.write_text(Path(programs[0]).read_text().replace("4", "7"))
    (job,) = questions([str(many)], models=["sc"], part=Part(without=("symmetry",)))
    cluster = Cluster(tmp_path)
    received = 0
    try:
        with connected(cluster.address) as client:

            class Killing(Workers):
                def result(self, future: Any) -> Performed:
                    nonlocal received
                    received += 1
                    if received in (3, 6):
                        cluster.kill_worker(received % 2)
                    return super().result(future)

            found = answers([job], Sharing(Killing(client)))
    finally:
        cluster.close()
    assert received > 6
    assert found == answers([job], LocalExecutor())


@pytest.mark.parametrize("lost", ["sending", "receiving"])
@pytest.mark.usefixtures("slices")
def test_no_share_is_lost_with_the_connection(
    lost: str, programs: list[str], tmp_path: Path
) -> None:
    part = Part(without=("symmetry",))
    (job,) = questions(programs[:1], models=["rc11"], part=part)
    (whole,) = answers([job], LocalExecutor())

    class Lost(InProcess):
        def send(self, parcel: Sequence[Job], failed: Collection[str] = ()) -> Future:
            if lost == "sending" and self.shares >= after:
                raise ClusterLost("lost")
            return super().send(parcel, failed)

        def result(self, future: Future) -> Performed:
            if lost == "receiving" and self.shares >= after:
                raise ClusterLost("lost")
            return super().result(future)

    for after in range(2, 12, 3):
        frontiers = Frontiers(tmp_path / str(after))
        (job,) = questions(programs[:1], models=["rc11"], part=part, frontiers=frontiers)
        with pytest.raises(ClusterLost):
            answers([job], Sharing(Lost(2)))
        (found,) = answers([job], LocalExecutor())
        assert found.resumed
        assert msgspec.structs.replace(found, resumed=0) == whole
