"""The gate of a pull request: which findings fail, how they are printed, the exit code."""

from __future__ import annotations

import json
import os
import re

import pytest
from projects import CONFIG, PUSH_POP, QUEUE, RELAXED, RELEASE, SB, WEAK_SB, Project
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.orders.repairs import affordable

SIZE = """\
  std::size_t size() const { return tail_.load(std::memory_order_relaxed); }

private:"""


#: the slot of the first item is used again for the third; both indices are published too weakly
REUSE = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int slot[2];
static atomic_uint head, tail;

static int push(int value) {
  unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
  if (t - atomic_load_explicit(&head, memory_order_acquire) == 2) return 0;
  slot[t % 2] = value;
  atomic_store_explicit(&tail, t + 1, memory_order_relaxed);
  return 1;
}

static int pop(int *value) {
  unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
  if (h == atomic_load_explicit(&tail, memory_order_acquire)) return 0;
  *value = slot[h % 2];
  atomic_store_explicit(&head, h + 1, memory_order_relaxed);
  return 1;
}

static void *producer(void *unused) { push(3); return unused; }
int main(void) {
  int value;
  pthread_t thread;
  push(1); push(2);
  pthread_create(&thread, 0, producer, 0);
  for (int i = 0, next = 1; i < 3; i++)
    if (pop(&value)) assert(value == next++);
  pthread_join(thread, 0);
}
"""

#: two flags are published too weakly, and one assertion notices both
TWO = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, fx, y, fy;
static void same(int v) { assert(v == 1); }
static int get(atomic_int *it) { return atomic_load_explicit(it, memory_order_relaxed); }
static void *one(void *u) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&fx, 1, memory_order_relaxed);
  return u;
}
static void *two(void *u) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  atomic_store_explicit(&fy, 1, memory_order_relaxed);
  return u;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  if (atomic_load_explicit(&fx, memory_order_acquire)) same(get(&x));
  if (atomic_load_explicit(&fy, memory_order_acquire)) same(get(&y));
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""


def test_a_weakened_order_fails_with_its_line_and_the_execution(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    assert steady(project.gate().printed(1)) == snapshot


def test_a_message_names_files_relative_to_the_project(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.write("include/plain.hpp", "inline int plain;\ninline void set() { plain = 1; }\n")
    project.write(
        "tests/race.cpp",
        '#include <thread>\n#include "plain.hpp"\n'
        "int main() {\n  std::thread t(set);\n  set();\n  t.join();\n}\n",
    )
    ended = project.gate("tests/race.cpp")
    assert steady(ended.out) == snapshot


def test_a_change_is_answered_in_seconds(project: Project) -> None:
    """Processor time to compile, explore, compare models, find the order and confirm it."""
    project.write("include/queue.hpp", QUEUE.replace(RELEASE, f"{RELAXED} // never compiled yet"))
    before = os.times()
    assert project.gate().code == 1
    after = os.times()
    assert sum(after[:4]) - sum(before[:4]) < 10.0


def test_a_repair_is_confirmed_on_every_scenario(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    project.write("tests/again.cpp", PUSH_POP.replace("try_push(42)", "try_push(41 + 1)"))
    project.write("tests/only_pop.cpp", PUSH_POP.replace("queue.try_push(42);", ""))
    ended = project.gate()
    assert steady(ended.out) == snapshot


def test_a_repair_is_confirmed_on_as_many_programs_as_fit_the_time() -> None:
    costs = {"slow": 9.0, "quick": 0.1, "quicker": 0.05, "violated": 1.0}
    assert affordable(costs, "violated", 5.0) == ["violated", "quicker", "quick"]
    assert affordable(costs, "slow", 1.0) == ["slow"]


def test_the_order_restored_passes(project: Project) -> None:
    ended = project.gate()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("1 scenario safe, 1 test as expected")


def test_a_litmus_file_that_expects_otherwise_fails(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.write("tests/SB.litmus", WEAK_SB)
    assert steady(project.gate("tests/SB.litmus").printed(1)) == snapshot


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("(* Result: Sometimes *)", 0),
        ("(* Result: Never *)", 1),
        ("(* Result: Never under sc\n   Result: Sometimes under rc11 *)", 0),
    ],
)
def test_a_comment_states_the_expected_verdict(project: Project, comment: str, code: int) -> None:
    text = WEAK_SB.replace("~exists", "exists").replace("C SB\n", f"C SB\n{comment}\n")
    project.write("tests/SB.litmus", text)
    assert project.gate("tests/SB.litmus").code == code


def test_a_litmus_file_without_an_expectation_gets_a_note(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.write("tests/SB.litmus", WEAK_SB.replace("~exists", "exists"))
    assert steady(project.gate("tests/SB.litmus").printed(0)) == snapshot


def test_it_finds_the_configuration_upwards(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder / "tests")
    assert project.gate().out.startswith("1 scenario safe, 1 test as expected")
    assert (project.folder / ".weakspot").is_dir()


def test_pyproject_is_read_too(project: Project) -> None:
    text = (project.folder / "weakspot.toml").read_text()
    (project.folder / "weakspot.toml").unlink()
    project.write(
        "pyproject.toml", "[tool.weakspot]\n" + text.replace("[gate]", "[tool.weakspot.gate]")
    )
    assert project.gate().code == 0


def test_a_folder_restricts_it_to_what_is_configured_below(project: Project) -> None:
    project.write("more/SB2.litmus", SB.replace("SB", "SB2", 1))
    project.write("weakspot.toml", '[gate]\nscenarios = ["*/*.litmus"]\n')
    assert project.gate("more").out.startswith("1 test as expected")
    assert project.gate().out.startswith("2 tests as expected")


def test_a_limit_is_inconclusive_and_a_finding_wins_over_it(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.write("weakspot.toml", f'{CONFIG}budget = "1ms"\n')
    assert steady(project.gate("tests/push_pop.cpp").printed(3)) == snapshot
    project.write("weakspot.toml", f"{CONFIG}unroll = 1\n")
    loop = "for (std::size_t i = 0; i < 3 + queue.size(); ++i) {}"
    text = PUSH_POP.replace("queue.try_push(42);", loop)
    project.write("include/queue.hpp", QUEUE.replace("private:", SIZE))
    project.write("tests/push_pop.cpp", text)
    assert steady(project.gate("tests/push_pop.cpp").printed(3)) == snapshot
    project.write("tests/SB.litmus", WEAK_SB)
    assert project.gate().code == 1


def test_a_scenario_that_does_not_compile_is_a_finding_and_the_others_are_checked(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.write("tests/push_pop.cpp", PUSH_POP.replace("queue.try_pop()", "queue.pop()"))
    project.write("tests/SB.litmus", WEAK_SB)
    ended = project.gate()
    assert (ended.code, ended.err) == (2, "")
    assert steady(ended.out) == snapshot


def test_fail_on_selects_the_findings_that_fail(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    project.write("weakspot.toml", f'{CONFIG}fail_on = ["WS102"]\n')
    assert steady(project.gate().printed(0)) == snapshot


STORES = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int r;
static void *left(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_release);
  r = atomic_load_explicit(&y, memory_order_acquire);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, left, 0);
  atomic_store_explicit(&y, 1, memory_order_release);
  int s = atomic_load_explicit(&x, memory_order_acquire);
  pthread_join(thread, 0);
  assert(r || s);
}
"""


def test_an_architecture_counts_if_one_of_its_mappings_allows_the_cycle(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    """STLR and LDAR forbid store buffering, STLR and LDAPR do not."""
    project.write("tests/stores.c", STORES)
    assert steady(project.gate("tests/stores.c").out) == snapshot


def test_a_hang_names_the_waiting_thread_and_what_it_waits_for(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    text = STORES.replace("assert(r || s)", "while (!r) {}")
    project.write("tests/stores.c", text)
    assert steady(project.gate("tests/stores.c").printed(1)) == snapshot


def test_an_order_that_the_execution_does_not_show_is_named_last_and_says_so(
    project: Project,
) -> None:
    project.write("weakspot.toml", '[gate]\nscenarios = ["tests/*.c"]\n')
    project.write("tests/reuse.c", REUSE)
    (race,) = (
        each
        for each in map(json.loads, project.gate("--json").out.splitlines())
        if each["id"] == "WS102"
    )
    lines = [REUSE.splitlines()[need["place"]["line"] - 1].strip() for need in race["needs"]]
    assert [line.partition(",")[0] for line in lines] == [
        "atomic_store_explicit(&head",
        "atomic_store_explicit(&tail",
    ]
    shown = {event.get("site") for event in race["witness"]["events"]}
    assert f"reuse.c:{race['needs'][0]['place']['line']}" in shown
    assert [need["asks"] for need in race["needs"]] == [
        "needs at least release under rc20",
        "needs at least release under rc20 (another execution shows why)",
    ]
    first, second = race["needs"]
    other = second["witness"]
    assert first["witness"] is None
    line = second["place"]["line"]
    assert f"tests/reuse.c:{line}" in {event.get("site") for event in other["events"]}


def test_every_change_of_a_repair_has_an_execution_that_shows_its_access(project: Project) -> None:
    """Also where the executions of the program itself show only one of them."""
    project.write("weakspot.toml", '[gate]\nscenarios = ["tests/*.c"]\n')
    project.write("tests/two.c", TWO)
    lines = [at for at, line in enumerate(TWO.splitlines(), 1) if "store_explicit(&f" in line]
    for command in (("check", "tests/two.c", "--model", "rc20"), ("gate",)):
        out = project.weakspot(*command).out
        assert len(re.findall("needs at least release", out)) == len(lines)
        first, second = out.split(" is too weak, as this execution shows:")
        assert f"two.c:{lines[0]} store fx = 1 (rlx)" in first
        assert f"two.c:{lines[1]} store fy = 1 (rlx)" in second


def test_marks_stand_under_each_wait_of_a_line(project: Project) -> None:
    """Not under another operation there."""
    project.write("weakspot.toml", '[gate]\nscenarios = ["tests/*.cpp"]\n')
    text = """\
#include <atomic>
#include <thread>
std::atomic<int> go, done;
int main() {
  std::thread a([] { while (!go.load()) {} }); if (done.load() == 0) a.join();
}
"""
    project.write("tests/join.cpp", text)
    shown = project.gate().out.splitlines()
    marked = [(shown[at - 1], line) for at, line in enumerate(shown) if "^ waits for" in line]
    words = [
        (above[line.index("^") : line.rindex("^") + 1], line.partition("^ waits for ")[2])
        for above, line in marked
    ]
    assert words == [("join", "another thread to end"), ("load", "its loop to end")]


def test_memory_freed_too_early_is_shown_with_its_use(project: Project) -> None:
    project.write("weakspot.toml", '[gate]\nscenarios = ["tests/*.c"]\n')
    text = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static _Atomic(int *) shared;
static atomic_int done;
static void *use(void *unused) {
  int value = *atomic_load(&shared);
  atomic_store_explicit(&done, value, memory_order_relaxed);
  return unused;
}
int main(void) {
  pthread_t thread;
  int *own = malloc(sizeof *own);
  *own = 1;
  atomic_store(&shared, own);
  pthread_create(&thread, 0, use, 0);
  while (!atomic_load(&done)) {}
  free(own);
  pthread_join(thread, 0);
}
"""
    project.write("tests/early.c", text)
    found = json.loads(project.gate("--json").out)
    assert (found["id"], found["message"]) == ("WS104", "use not ordered with a free")
    shown = {(each.get("site"), each["kind"]) for each in found["witness"]["events"]}
    assert {("early.c:7", "R"), ("early.c:18", "FREE")} <= shown


def test_markdown_says_where_a_hang_waits_beside_the_order_that_it_needs(project: Project) -> None:
    text = STORES.replace("assert(r || s)", "while (!r && !s) {}")
    project.write("tests/stores.c", text)
    project.gate("tests/stores.c", "--markdown", "out.md")
    shown = (project.folder / "out.md").read_text()
    loop = next(n for n, line in enumerate(text.splitlines(), 1) if "while" in line)
    assert f"waits forever for its loop to end, at `tests/stores.c:{loop}" in shown
    assert "```c\nwhile (!r && !s) {};\n```" in shown
    assert "**needs " in shown


def test_violations_with_one_sentence_at_two_places_are_two_findings(project: Project) -> None:
    project.write(
        "tests/two.c",
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n"
        "static atomic_int x, y;\n"
        "static void *set(void *none) { x = 1; return none; }\n"
        "int main(void) {\n"
        "  pthread_t t;\n"
        "  pthread_create(&t, 0, set, 0);\n"
        "  if (y)\n    y = 2;\n"
        "  if (x == 1)\n    assert(y);\n"
        "  else\n    assert(y);\n"
        "  pthread_join(t, 0);\n}\n",
    )
    ended = project.gate("tests/two.c")
    assert ended.out.count("details: weakspot explain") == 2, ended.out
    assert "2 findings" in ended.out
