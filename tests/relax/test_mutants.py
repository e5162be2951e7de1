"""Which weaker memory orders, missing fences and missing notifications the scenarios notice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weakspot
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
