"""Whole programs on the command line: what goes wrong, under which model, in which lines, as which
litmus test, and what a limit left open."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from samples import WIDE, Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.checkers.engine import Engine
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded

#: a loop that a shared value ends, which no bound decides: the other thread may always be faster
ENDLESS = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turns, stop;

static void *count(void *unused) {
  while (!atomic_load(&stop))
    atomic_fetch_add(&turns, 1);
  return unused;
}

int main(void) {
  pthread_t counter;
  pthread_create(&counter, 0, count, 0);
  atomic_store(&stop, 1);
  pthread_join(counter, 0);
  assert(atomic_load(&turns) >= 0);
  return 0;
}
"""

UNCHECKED = "#define NDEBUG\n" + ENDLESS.replace("while (!", "if (!")

#: two threads that each want both locks
DEADLOCK = """\
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *up(void *unused) {
  pthread_mutex_lock(&one);
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
  pthread_mutex_unlock(&one);
  return unused;
}

static void *down(void *unused) {
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&one);
  pthread_mutex_unlock(&one);
  pthread_mutex_unlock(&other);
  return unused;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, up, 0);
  pthread_create(&second, 0, down, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return 0;
}
"""


def test_explorations_are_one_object_per_line_and_name_the_test_of_their_cycle(run: Run) -> None:
    ended = run("check", "mp.c", "-m", "sc,rc11", "--json")
    values = [json.loads(line) for line in ended.out.splitlines()]
    explored = {value["model"]: value for value in values if "program" in value}
    assert explored["sc"]["result"] == "Safe"
    assert explored["sc"]["complete"] > 0
    assert explored["rc11"]["result"] == "Violated"
    (violation,) = explored["rc11"]["violations"]
    assert violation["kind"] == "assertion"
    assert violation["sites"] == ["mp.c:15"]
    assert violation["test"] in {value["test"] for value in values if "test" in value}


def test_tests_of_a_safe_program_are_decided_only_if_asked_for(run: Run) -> None:
    ended = run("check", "mp.c", "-m", "sc")
    assert (ended.code, "MP+" in ended.out) == (0, False)
    for asked in ("--tests", "--witness", "--checker=engine", "--format=herd"):
        assert "MP+porlxrlx+poacqrlx" in run("check", "mp.c", "-m", "sc", asked).out, asked


def test_no_time_goes_into_tests_that_nobody_asked_for(run: Run, folder: Path) -> None:
    (folder / "wide.c").write_text(WIDE)
    limits = ("-m", "sc", "--seconds", "1ms")
    run("gen", "wide.c", "--list")  # compiled before time matters
    assert "litmus tests" not in run("check", "wide.c", *limits).out
    assert "while its litmus tests were generated" in run("check", "wide.c", "--tests", *limits).out


@pytest.mark.parametrize("command", ["check mp.c", "test mp.c --for 0 -c engine"])
def test_the_needed_order_is_named(run: Run, command: str) -> None:
    printed = run(*command.split()).printed(1)
    assert "mp.c:9 needs at least release under rc20" in printed
    assert "help: memory_order_release at mp.c:9 suffices (checked in 1 scenario)" in printed


def test_what_no_memory_order_prevents_gets_no_repair(run: Run) -> None:
    printed = run("check", "wrong.c").printed(1)
    assert "needs at least" not in printed
    assert "so no memory order prevents it" in printed


def test_the_test_of_a_violation_is_written_and_allowed(run: Run, folder: Path) -> None:
    assert run("check", "mp.c", "-m", "rc11", "-o", "tests").code == 1
    (path,) = (folder / "tests").iterdir()
    assert path.name == "MP+porlxrlx+poacqrlx.litmus"
    ended = run("check", f"tests/{path.name}", "-m", "sc,rc11", "--json")
    values = [json.loads(line) for line in ended.out.splitlines()]
    observations = {value["model"]: value["observation"] for value in values}
    assert observations == {"sc": "Never", "rc11": "Sometimes"}


def test_an_interrupted_check_writes_the_tests_of_its_violations(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    monkeypatch.setattr(Engine, "check", interrupted)
    assert guarded(weakspot, ["check", "mp.c", "-m", "rc11", "-o", "tests"]) == 130
    assert list((folder / "tests").glob("MP*.litmus"))


def test_a_loop_that_reaches_its_bound_is_inconclusive_with_advice(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "endless.c").write_text(ENDLESS)
    assert steady(run("check", "endless.c", "-m", "sc").printed(3)) == snapshot
    assert steady(run("check", "endless.c", "-m", "sc", "--loops", "2").out) == snapshot


@pytest.mark.parametrize(
    "work",
    [
        "for (int i = 0; i < 5000; i++) atomic_store(&turns, i);",
        "for (volatile int i = 0; i < 1000000; i++) {}",
        "count(unused);",
    ],
    ids=["events", "instructions", "calls"],
)
def test_a_limit_of_one_thread_is_located_and_names_its_option(
    run: Run, folder: Path, work: str, snapshot: SnapshotAssertion
) -> None:
    loop = ENDLESS[ENDLESS.index("  while") : ENDLESS.index("  return unused")]
    (folder / "busy.c").write_text(ENDLESS.replace(loop, f"  {work}\n"))
    printed = run("check", "busy.c", "-m", "sc").printed(3)
    (limit,) = (line for line in printed.splitlines() if " under sc: " in line)
    # a slow machine reaches the time limit besides
    fixed = re.sub(r"; (time limit of [\d.]+ s|--seconds \d+ explores further)", "", limit)
    assert fixed == snapshot


@pytest.mark.parametrize(
    ("option", "limit"),
    [
        ("--events=20", "more than 20 events in one execution"),
        ("--instructions=50", "more than 50 instructions in one thread"),
        ("--calls=0", "not in the range"),
    ],
)
def test_events_instructions_and_calls_are_limited_by_options(
    run: Run, folder: Path, option: str, limit: str
) -> None:
    loop = ENDLESS[ENDLESS.index("  while") : ENDLESS.index("  return unused")]
    work = "  for (int i = 0; i < 30; i++) atomic_store(&stop, i);\n"
    (folder / "busy.c").write_text(ENDLESS.replace(loop, work))
    assert run("check", "busy.c", "-m", "sc").code == 0
    ended = run("check", "busy.c", "-m", "sc", option)
    assert ended.code == (2 if option == "--calls=0" else 3)
    assert limit in ended.out + ended.err


@pytest.mark.parametrize("option", ["--executions=1", "--seconds=10ms"])
def test_a_limit_is_inconclusive_and_named(
    run: Run, folder: Path, option: str, snapshot: SnapshotAssertion
) -> None:
    (folder / "many.c").write_text(
        ENDLESS.replace("while (!atomic_load(&stop))", "for (int i = 0; i < 9; i++)").replace(
            "atomic_store(&stop, 1)", "for (int i = 0; i < 9; i++) atomic_fetch_add(&turns, 1)"
        )
    )
    run("gen", "many.c", "--list")  # compiled before time matters
    printed = run("check", "many.c", "-m", "sc", option).printed(3)
    out = re.sub(r"[\d,]+ executions? explored", "<n> explored", steady(printed))
    # a slow machine reaches the time limit in tracing too
    assert re.sub(r".*its litmus tests were generated.*\n", "", out) == snapshot


def test_threads_that_wait_for_one_another_are_a_hang(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "deadlock.c").write_text(DEADLOCK)
    assert steady(run("check", "deadlock.c", "-m", "sc").printed(1)) == snapshot


def test_a_program_that_a_model_cannot_explore_is_unanswered(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("check", "mp.c", "-m", "sc,c20").printed(3)) == snapshot
    ended = run("test", "mp.c", "-m", "sc,c20", "--for", "0", "-c", "engine", "-o", "one")
    assert ended.code == 3
    assert "undecided: mp.c/mp under c20: programs are not explored under c20" in ended.out
    # what the corpus asks under such a model is asked of litmus tests
    assert run("check", "store_buffering", "-m", "c20").code == 0
    (folder / "weakspot.toml").write_text('models = ["sc", "c20"]\n')
    printed = run("gate", "mp.c").printed(3)
    assert "undecided: mp.c under c20: programs are not explored under c20" in printed
    assert run("gate", "--write-baseline", "mp.c").code == 3


def test_a_campaign_stores_explorations_and_links_them_with_their_tests(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    printed = run("test", "mp.c", "--for", "0", "-c", "engine", "-o", "one").printed(1)
    assert steady(printed) == snapshot
    lines = (folder / "one" / "explorations.jsonl").read_text().splitlines()
    assert [json.loads(line)["model"] for line in lines] == ["sc", "tso", "rc20"]
    page = (folder / "one" / "report" / "programs" / "mp.c_mp.html").read_text()
    assert "../tests/MP%2Bporlxrlx%2Bpoacqrlx.html" in page
    test = (folder / "one" / "report" / "tests" / "MP+porlxrlx+poacqrlx.html").read_text()
    assert "../programs/mp.c_mp.html" in test
    again = run("test", "mp.c", "--for", "0", "-c", "engine", "-o", "one")
    assert again.code == 1
    assert (folder / "one" / "explorations.jsonl").read_text().splitlines() == lines


def test_claims_are_listed_with_the_checker_that_decided_them(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    none = run("structures", "store_buffering", "--claims")
    assert none.code == 0
    assert none.out.splitlines()[-1] == snapshot
    decide = ("test", "store_buffering", "--for", "0", "-c", "engine", "-o", "results/one")
    assert run(*decide).code == 0
    printed = run("structures", "store_buffering", "--claims").out
    *claims, last = printed.splitlines()
    assert [line for line in claims if " rel_acq " in line] == snapshot
    assert last == snapshot
    lines = run("structures", "store_buffering", "--claims", "--json").out.splitlines()
    values = [json.loads(line) for line in lines]
    assert {"structure", "under", "recorded", "found", "fits", "by"} <= set(values[0])
    assert all(value["fits"] for value in values if value["by"])


@pytest.mark.parametrize(
    "axiom",
    ["acyclic po | rf | co | fr as sc", "acyclic po-loc | rf | co | fr"],
    ids=["sc", "coherence"],
)
def test_a_cat_file_of_the_users_decides_programs_if_it_shows_that_it_can(
    run: Run, folder: Path, axiom: str, snapshot: SnapshotAssertion
) -> None:
    (folder / "deadlock.c").write_text(DEADLOCK)
    (folder / "mine.cat").write_text(f'"mine"\ninclude "cos.cat"\n{axiom}\n')
    ended = run("check", "deadlock.c", "-m", "mine.cat")
    assert ended.code == (1 if axiom.endswith("sc") else 3)
    assert steady(ended.out + ended.err) == snapshot


PUBLISHED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int data;
static atomic_int ready;
static void *publish(void *unused) {
  data = 42;
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, publish, 0);
  if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 42);
  pthread_join(t, 0);
}
"""


@pytest.mark.parametrize("command", [("check",), ("test", "--for", "0", "-c", "engine")])
def test_what_one_change_mends_is_reported_once(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    (folder / "published.c").write_text(PUBLISHED)
    printed = run(*command, "published.c", "-m", "rc20").printed(1)
    lines = printed.splitlines()
    (other,) = [line for line in lines if "same cause: " in line]
    assert other == (
        "   =  same cause: WS102 published.c/published: data-race on data between "
        "published.c:8:8 and published.c:15:66"
    )
    assert [line for line in lines if line.startswith("help: ")] == [
        "help: memory_order_release at published.c:9 suffices (checked in 1 scenario); "
        "the witness's cycle is the test MP+ponarlx+ctrlacqna"
    ]
    if command[0] == "test":
        assert lines[-1].startswith("1 finding ")


def test_a_program_of_which_no_execution_is_found_is_not_safe(run: Run, folder: Path) -> None:
    never = "atomic_store(&stop, 1);\n  __VERIFIER_assume(atomic_load(&stop) == 2);"
    text = ENDLESS.replace("atomic_store(&stop, 1);", never)
    (folder / "none.c").write_text("void __VERIFIER_assume(int);\n" + text)
    printed = run("check", "none.c", "-m", "sc").printed(3)
    assert "no execution was found: the model forbids them all" in printed


def test_a_note_is_printed_once_for_all_models(run: Run, tmp_path: Path) -> None:
    (tmp_path / "unchecked.c").write_text(UNCHECKED)
    text = run("check", str(tmp_path / "unchecked.c"), "-m", "sc,tso,rc20").out
    (note,) = (line for line in text.splitlines() if "NDEBUG" in line)
    assert re.match(r"unchecked\.c/unchecked under sc, tso, rc20: \S*unchecked\.c:1: ", note)
