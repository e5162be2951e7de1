"""The gate of a pull request: what fails, what it shows, what the exit code says."""

from __future__ import annotations

import os

import pytest
from projects import CONFIG, LINE, PUSH_POP, QUEUE, RELAXED, RELEASE, SB, WEAK_SB, Project

from weakspot.harness.gate.mend import affordable

SIZE = """\
  std::size_t size() const { return tail_.load(std::memory_order_relaxed); }

private:"""


def test_a_weakened_order_fails_with_its_line_and_the_execution(project: Project) -> None:
    project.weaken()
    ended = project.gate()
    assert ended.code == 1, ended.err
    assert "tests/push_pop.cpp  rc11" in ended.out
    assert "WS101 assertion failed: *value == 42" in ended.out
    assert f"  --> include/queue.hpp:{LINE}:11\n" in ended.out
    assert f"{LINE} |     {RELAXED}\n   |           ^^^^^ needs at least release" in ended.out
    assert f"queue.hpp:{LINE} store queue.tail_ = 1 (rlx)" in ended.out
    assert (
        f"help: memory_order_release at include/queue.hpp:{LINE} is enough for 1 scenario"
        in ended.out
    )
    assert "─rf→" in ended.out
    assert "its cycle is message passing, MP: the test MP+porlxrlx+poacqrlx" in ended.out
    assert "rc11: possible   sc: not possible   tso (x86): not possible" in ended.out
    there = "possible on AArch64, POWER, RISC-V; not on x86-64"
    assert f"as compilers map it: {there}\n" in ended.out
    assert ended.out.splitlines()[-1].startswith("1 finding, 1 test as expected")


def test_places_in_a_message_are_named_from_the_projects_folder(project: Project) -> None:
    project.write("include/plain.hpp", "inline int plain;\ninline void set() { plain = 1; }\n")
    project.write(
        "tests/race.cpp",
        '#include <thread>\n#include "plain.hpp"\n'
        "int main() {\n  std::thread t(set);\n  set();\n  t.join();\n}\n",
    )
    ended = project.gate("tests/race.cpp")
    assert (
        "data-race on plain between include/plain.hpp:2:27 and include/plain.hpp:2:27" in ended.out
    )


def test_a_change_is_answered_in_seconds(project: Project) -> None:
    """Of a processor: compiling, exploring, comparing, finding the order and confirming it."""
    project.write("include/queue.hpp", QUEUE.replace(RELEASE, f"{RELAXED} // never compiled yet"))
    before = os.times()
    assert project.gate().code == 1
    after = os.times()
    assert sum(after[:4]) - sum(before[:4]) < 10.0


def test_a_repair_is_confirmed_on_every_scenario(project: Project) -> None:
    project.weaken()
    project.write("tests/again.cpp", PUSH_POP.replace("try_push(42)", "try_push(41 + 1)"))
    project.write("tests/only_pop.cpp", PUSH_POP.replace("queue.try_push(42);", ""))
    ended = project.gate()
    assert f"include/queue.hpp:{LINE} is enough for all 3 scenarios" in ended.out
    assert ended.out.count("WS101") == 2
    assert "= the same cause: WS101 assertion failed" in ended.out
    assert "2 findings, 1 scenario safe" in ended.out


def test_it_is_confirmed_on_as_many_as_there_is_time_for() -> None:
    costs = {"slow": 9.0, "quick": 0.1, "quicker": 0.05, "violated": 1.0}
    assert affordable(costs, "violated", 5.0) == ["violated", "quicker", "quick"]
    assert affordable(costs, "slow", 1.0) == ["slow"]


def test_the_order_restored_passes(project: Project) -> None:
    ended = project.gate()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("1 scenario safe, 1 test as expected")


def test_a_litmus_file_that_expects_otherwise_fails(project: Project) -> None:
    project.write("tests/SB.litmus", WEAK_SB)
    ended = project.gate("tests/SB.litmus")
    assert ended.code == 1
    assert "WS001 SB under rc11: the file expects Never, engine finds Sometimes" in ended.out
    assert "--> tests/SB.litmus:11:1" in ended.out
    assert "store y = 1 (rel)" in ended.out


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("(* Result: Sometimes *)", 0),
        ("(* Result: Never *)", 1),
        ("(* Result: Never under sc\n   Result: Sometimes under rc11 *)", 0),
    ],
)
def test_a_comment_says_what_is_expected(project: Project, comment: str, code: int) -> None:
    text = WEAK_SB.replace("~exists", "exists").replace("C SB\n", f"C SB\n{comment}\n")
    project.write("tests/SB.litmus", text)
    assert project.gate("tests/SB.litmus").code == code


def test_a_test_that_only_asks_is_told(project: Project) -> None:
    project.write("tests/SB.litmus", WEAK_SB.replace("~exists", "exists"))
    ended = project.gate("tests/SB.litmus")
    assert ended.code == 0
    assert "note: tests/SB.litmus expects nothing under rc11" in ended.out


def test_it_finds_the_configuration_upwards(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder / "tests")
    assert project.gate().out.startswith("1 scenario safe, 1 test as expected")
    assert (project.folder / ".weakspot").is_dir()


def test_pyproject_is_read_too(project: Project) -> None:
    text = (project.folder / "weakspot.toml").read_text()
    (project.folder / "weakspot.toml").unlink()
    project.write("pyproject.toml", text.replace("[gate]", "[tool.weakspot.gate]"))
    assert project.gate().code == 0


def test_a_folder_restricts_it_to_what_is_configured_below(project: Project) -> None:
    project.write("more/SB2.litmus", SB.replace("SB", "SB2", 1))
    project.write("weakspot.toml", '[gate]\nscenarios = ["*/*.litmus"]\n')
    assert project.gate("more").out.startswith("1 test as expected")
    assert project.gate().out.startswith("2 tests as expected")


def test_a_limit_is_inconclusive_and_a_finding_wins_over_it(project: Project) -> None:
    project.write("weakspot.toml", f'{CONFIG}budget = "1ms"\n')
    ended = project.gate("tests/push_pop.cpp")
    assert ended.code == 3
    assert "undecided: tests/push_pop.cpp under rc11: the budget of 0.001 s was used" in ended.out
    project.write("weakspot.toml", f"{CONFIG}unroll = 1\n")
    loop = "for (std::size_t i = 0; i < 3 + queue.size(); ++i) {}"
    text = PUSH_POP.replace("queue.try_push(42);", loop)
    project.write("include/queue.hpp", QUEUE.replace("private:", SIZE))
    project.write("tests/push_pop.cpp", text)
    ended = project.gate("tests/push_pop.cpp")
    assert ended.code == 3, ended.out
    assert "unroll = 2 goes on" in ended.out
    project.write("tests/SB.litmus", WEAK_SB)
    assert project.gate().code == 1


def test_what_does_not_compile_is_bad_input(project: Project) -> None:
    project.write("tests/push_pop.cpp", PUSH_POP.replace("queue.try_pop()", "queue.pop()"))
    ended = project.gate()
    assert ended.code == 2
    assert "no member named 'pop'" in ended.err
    assert "--> tests/push_pop.cpp:10:" in ended.err


def test_fail_on_says_what_fails(project: Project) -> None:
    project.weaken()
    project.write(
        "weakspot.toml",
        '[gate]\nscenarios = ["tests/*.cpp"]\ninclude = ["include"]\nfail_on = ["WS102"]\n',
    )
    ended = project.gate()
    assert ended.code == 0
    assert "WS101 assertion failed" in ended.out
    assert "1 told" in ended.out


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


def test_a_machine_is_named_where_one_of_its_mappings_shows_it(project: Project) -> None:
    """STLR and LDAR forbid store buffering, STLR and LDAPR do not."""
    project.write("tests/stores.c", STORES)
    out = project.gate("tests/stores.c").out
    assert "its cycle is store buffering, SB" in out
    assert "as compilers map it: possible on x86-64, AArch64, POWER, RISC-V\n" in out


def test_a_hang_is_told_by_who_waits_for_what(project: Project) -> None:
    text = STORES.replace("assert(r || s)", "while (!r) {}")
    project.write("tests/stores.c", text)
    ended = project.gate("tests/stores.c")
    assert ended.code == 1
    assert "WS103" in ended.out
    assert "waits for its loop to end" in ended.out
