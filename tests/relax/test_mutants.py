"""Which weaker memory orders, missing fences and missing notifications the scenarios notice."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from clusters import in_process

import weakspot
from weakspot.errors import BadInput
from weakspot.harness.cli import weakspot as command
from weakspot.harness.cli.errors import guarded
from weakspot.harness.orders.mutants import Mutated
from weakspot.harness.report.mutants import change

PUBLISH = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int ready, seen;
static inline void publish(void) {
  data = 42;
  atomic_store_explicit(&ready, 1, memory_order_release);
}
static inline void look(void) {
  if (atomic_load_explicit(&ready, memory_order_acquire))
    USE;
  atomic_fetch_add_explicit(&seen, 1, memory_order_acq_rel);
}
static void *run(void *unused) { look(); return unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  publish();
  pthread_join(thread, 0);
}
"""
CHECKED = PUBLISH.replace("USE", "assert(data == 42)")
WAITS = """\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;
static void *waits(void *unused) {
  pthread_mutex_lock(&lock);
  while (!done) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  pthread_mutex_lock(&lock);
  done = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
}
"""


def mutated(*paths: Path | str, model: str = "rc20") -> Mutated:
    (found,) = weakspot.mutate(list(paths), models=[model])
    return found


def test_each_memory_order_is_a_step_weaker(tmp_path: Path) -> None:
    path = tmp_path / "mp.c"
    path.write_text(CHECKED)
    found = mutated(path)
    assert {
        f"{each.place.rpartition('/')[2]} {change(each)}": each.result for each in found.mutants
    } == {
        "mp.c:8 release → relaxed": "noticed",
        "mp.c:11 acquire → relaxed": "noticed",
        "mp.c:13 acq_rel → acquire": "survives",
        "mp.c:13 acq_rel → release": "survives",
    }
    assert found.decided
    assert {each.violation for each in found.of("noticed")} <= {"race", "assertion"}


def test_a_scenario_that_notices_is_enough(tmp_path: Path) -> None:
    (tmp_path / "mp.h").write_text(PUBLISH)
    for name, use in (("reads", "assert(data == 42)"), ("looks", "(void)0")):
        (tmp_path / f"{name}.c").write_text(f'#define USE {use}\n#include "mp.h"\n')
    alone = mutated(tmp_path / "looks.c")
    assert {each.result for each in alone.mutants} == {"survives"}
    both = mutated(tmp_path / "looks.c", tmp_path / "reads.c")
    assert len(both.of("noticed")) == 2
    assert all("reads" in each.noticed_by for each in both.of("noticed"))


def test_a_notification_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "waits.c"
    path.write_text(WAITS)
    (mutant,) = mutated(path).mutants
    assert (mutant.operation, mutant.result, mutant.violation) == (
        "notification",
        "noticed",
        "hang",
    )
    assert mutant.place.endswith("waits.c:16")
    # nobody waits
    path.write_text(WAITS.replace("while (!done) pthread_cond_wait(&changed, &lock);", ""))
    assert [each.result for each in mutated(path).mutants] == ["survives"]


def test_a_fence_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "fence.c"
    relaxed = "atomic_store_explicit(&ready, 1, memory_order_relaxed)"
    path.write_text(
        CHECKED.replace(
            relaxed.replace("relaxed", "release"),
            f"atomic_thread_fence(memory_order_release);\n  {relaxed}",
        )
    )
    (fence,) = [each for each in mutated(path).mutants if each.operation == "fence"]
    assert (fence.weaker, fence.result) == ("none", "noticed")


def test_a_scenario_that_is_violated_as_it_is_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "wrong.c"
    path.write_text(PUBLISH.replace("USE", "assert(data == 7)"))
    found = mutated(path)
    assert (found.scenarios, found.mutants) == ((), ())
    assert [each.violated for each in found.left_out] == [True]


def test_a_program_of_the_user_that_is_violated_as_it_is_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.c").write_text(PUBLISH.replace("USE", "assert(data == 7)"))
    assert guarded(command, ["mutate", "wrong.c"]) == 1
    assert "every scenario is violated as it is written" in capsys.readouterr().out


@pytest.mark.parametrize("structure", ["ms_queue", "treiber_stack"])
def test_the_scenarios_of_the_corpus_notice_every_mutant(structure: str) -> None:
    """Their recorded weakest orders are those that are written."""
    found = mutated(structure)
    assert found.mutants
    assert {each.result for each in found.mutants} == {"noticed"}


def test_the_command_exits_with_1_if_a_mutant_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mp.c").write_text(CHECKED)
    assert guarded(command, ["mutate", "mp.c", "--model", "rc20"]) == 1
    out = capsys.readouterr().out
    assert "mp.c:13  update     acq_rel → release  survives" in out
    assert "mp.c:8 " not in out
    assert "2 noticed, 2 survive" in out
    assert guarded(command, ["mutate", "mp.c", "--model", "rc20", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["mutants"]) == 4
    Path("waits.c").write_text(WAITS)
    assert guarded(command, ["mutate", "waits.c", "--all"]) == 0
    assert "left out  hang in waits.c" in capsys.readouterr().out


NOTIFIES = """\
#include <atomic>
#include <thread>
std::atomic<int> flag;
void wait() { flag.wait(0); }
int main() {
  std::thread one(wait);
  std::thread two(wait);
  flag = 1;
  flag.notify_all();
  one.join();
  two.join();
}
"""
POSTS = """\
#include <latch>
#include <semaphore>
#include <thread>
std::counting_semaphore<2> items(0);
std::latch done(1);
int main() {
  std::thread taker([] {
    items.acquire();
    done.count_down();
  });
  items.release();
  done.wait();
  taker.join();
}
"""
WAKES = """\
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int ready;
static sem_t woken;
static void *waits(void *unused) {
  while (!ready) syscall(SYS_futex, &ready, FUTEX_WAIT, 0, 0, 0, 0);
  sem_post(&woken);
  return unused;
}
int main(void) {
  pthread_t thread;
  sem_init(&woken, 0, 0);
  pthread_create(&thread, 0, waits, 0);
  ready = 1;
  syscall(SYS_futex, &ready, FUTEX_WAKE, 1, 0, 0, 0);
  sem_wait(&woken);
  pthread_join(thread, 0);
}
"""
FENCES = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
void asymmetric_thread_fence_light(memory_order);
void asymmetric_thread_fence_heavy(memory_order);
static atomic_int x, y;
static int seen;
static void *one(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  asymmetric_thread_fence_light(memory_order_seq_cst);
  seen = atomic_load_explicit(&y, memory_order_relaxed);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, one, 0);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  asymmetric_thread_fence_heavy(memory_order_seq_cst);
  int other = atomic_load_explicit(&x, memory_order_relaxed);
  pthread_join(thread, 0);
  assert(seen || other);
}
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "notifies.cpp",
            NOTIFIES,
            {("notification left out", 9, "hang"), ("notification all → one", 9, "hang")},
        ),
        ("posts.cpp", POSTS, {("post left out", 9, "hang"), ("post left out", 11, "hang")}),
        (
            "requeues.c",
            WAKES.replace("FUTEX_WAKE, 1, 0", "FUTEX_REQUEUE, 1, 1").replace(
                "1, 1, 0, 0);", "1, 1, &woken, 0);"
            ),
            {("post left out", 11, "hang"), ("notification left out", 19, "hang")},
        ),
        ("wakes.c", WAKES, {("post left out", 11, "hang"), ("notification left out", 19, "hang")}),
        (
            "fences.c",
            FENCES,
            {("fence left out", 10, "assertion"), ("fence left out", 18, "assertion")},
        ),
    ],
)
def test_what_other_threads_wait_for_is_left_out(
    tmp_path: Path, name: str, text: str, expected: set[tuple[str, int, str]]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = mutated(path)
    assert expected == {
        (f"{each.operation} {change(each)}", int(each.place.rpartition(":")[2]), each.violation)
        for each in found.mutants
        if each.operation in ("notification", "post", "fence")
    }


def test_the_memory_orders_in_library_functions_are_not_the_users(tmp_path: Path) -> None:
    path = tmp_path / "posts.cpp"
    path.write_text(POSTS)
    assert {each.operation for each in mutated(path).mutants} == {"post"}


def test_a_survivor_comes_with_the_client_that_would_notice_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path(__file__).resolve().parents[2]
    for source in ("litmus/treiber_stack/treiber.h", "tests/clients/objects/treiber_stack.c"):
        (tmp_path / Path(source).name).write_text((root / source).read_text())
    Path("pushes.c").write_text(
        '#include "treiber.h"\n'
        "static struct treiber_node node;\nstatic struct treiber stack;\n"
        "int main(void) { treiber_push(&stack, &node); return !treiber_pop(&stack); }\n"
    )
    asked = ["mutate", "pushes.c", "--model", "rc20"]
    clients = ["--clients", "treiber_stack.c", "--as", "stack", "--client-calls", "2"]
    assert guarded(command, [*asked, *clients, "-o", "clients.c"]) == 1
    out = capsys.readouterr().out
    assert "treiber.h:50 load acquire → relaxed is noticed by push(1) | pop()" in out
    # it is a scenario like any other
    assert guarded(command, [*asked[:2], "clients.c", *asked[2:]]) == 0
    assert guarded(command, [*asked, "--clients", "treiber_stack.c"]) == 2


def test_clients_of_an_object_that_is_wrong_as_it_is_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "counter.c"
    path.write_text(
        "#include <stdatomic.h>\nstatic atomic_int x;\nlong add(void) {\n"
        "  int was = atomic_load_explicit(&x, memory_order_acquire);\n"
        "  atomic_store_explicit(&x, was + 1, memory_order_relaxed);\n  return was;\n}\n"
    )
    specified = tmp_path / "specification.c"
    specified.write_text("static long y;\nlong spec_add(void) { return y++; }\n")
    scenario = tmp_path / "scenario.c"
    scenario.write_text('#include "counter.c"\nint main(void) { return (int)add(); }\n')
    clients = weakspot.object_clients(
        path, weakspot.ClientChoice(str(specified), calls=2, threads=2)
    )
    with pytest.raises(BadInput, match=r"does not behave as specified.* without any change"):
        list(weakspot.mutate([scenario], models=["rc20"], clients=clients))


def test_a_cluster_finds_the_same_mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("checked", CHECKED), ("waits", WAITS)):
        (tmp_path / f"{name}.c").write_text(text)
    files = [tmp_path / "checked.c", tmp_path / "waits.c"]
    executor, workers = in_process(monkeypatch)
    found, here = (
        [msgspec.structs.replace(each, seconds=0.0) for each in mutated]
        for mutated in (weakspot.api.mutate(files, executor=executor), weakspot.api.mutate(files))
    )
    assert found == here
    assert workers.most > 1, "several mutants are explored at once"
