"""What machines do beyond the models of the language: a load takes its value after later stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ended import Ended
from samples import Run

PROGRAM = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int item, users = 2;

static void *reader(void *unused) {
  int seen = atomic_load_explicit(&item, memory_order_relaxed);
  atomic_fetch_sub_explicit(&users, 1, LEAVE);
  assert(seen == 0);
  return unused;
}

static void *last(void *unused) {
  if (atomic_fetch_sub_explicit(&users, 1, LEAVE) == 1)
    atomic_store_explicit(&item, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, last, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""
RACE = """\
#include <pthread.h>

int item;

static void *writer(void *unused) {
  item = 1;
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, writer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return item - 1;
}
"""


@pytest.fixture
def relaxed(folder: Path) -> Path:
    path = folder / "users.c"
    path.write_text(PROGRAM.replace("LEAVE", "memory_order_relaxed"))
    return path


@pytest.fixture
def ordered(folder: Path) -> Path:
    path = folder / "users.c"
    path.write_text(PROGRAM.replace("LEAVE", "memory_order_acq_rel"))
    return path


def results(ended: Ended) -> dict[str, Any]:
    values = map(json.loads, ended.out.splitlines())
    return {each["model"]: each["result"] for each in values if "result" in each}


def test_what_is_safe_in_the_language_is_explored_as_machines_execute_it(
    run: Run, relaxed: Path
) -> None:
    found = run("check", relaxed.name, "--json")
    assert results(found) == {"sc": "Safe", "tso": "Safe", "rc20": "Safe", "imm": "Violated"}
    assert found.code == 1


def test_the_finding_says_that_the_language_and_machines_differ(run: Run, relaxed: Path) -> None:
    found = run("check", relaxed.name)
    assert "assertion failed: seen == 0 (safe under rc20; C11 and C++20 as written" in found.out
    assert "memory_order_acquire at users.c:8 suffices" in found.out
    assert "imm  engine  Sometimes" in found.out


def test_orders_that_forbid_it_are_safe_on_every_machine(run: Run, ordered: Path) -> None:
    machines = ("imm", "aarch64", "power", "riscv", "x86")
    found = run("check", ordered.name, "-m", ",".join(("rc20", *machines)), "--json")
    assert results(found) == dict.fromkeys(("rc20", *machines), "Safe")
    assert found.code == 0


def test_a_machine_of_the_users_choice_shows_it_too(run: Run, relaxed: Path) -> None:
    found = run("check", relaxed.name, "-m", "aarch64,power,riscv,x86", "--json")
    expected = dict.fromkeys(("aarch64", "power", "riscv"), "Violated")
    assert results(found) == {**expected, "x86": "Safe"}


def test_a_model_that_is_named_answers_alone_and_says_what_it_leaves_out(
    run: Run, relaxed: Path
) -> None:
    found = run("check", relaxed.name, "--model", "rc11")
    assert found.code == 0
    assert "rc11 leaves out that a load takes its value after later stores" in found.out
    assert "--model rc11,imm explores that too" in found.out


def test_the_configuration_names_the_models_of_machines(run: Run, relaxed: Path) -> None:
    file = relaxed.parent / "weakspot.toml"
    file.write_text('machine_models = ["power"]\n')
    found = results(run("check", relaxed.name, "--json"))
    assert found["power"] == "Violated"
    assert "imm" not in found
    file.write_text("machine_models = []\n")
    assert list(results(run("check", relaxed.name, "--json"))) == ["sc", "tso", "rc20"]


def test_an_unknown_model_of_machines_is_refused_with_its_place(run: Run, relaxed: Path) -> None:
    (relaxed.parent / "weakspot.toml").write_text('machine_models = ["im"]\n')
    found = run("gate", relaxed.name)
    assert found.code == 2
    assert "machine_models: unknown model 'im'" in found.err
    assert "weakspot.toml:1" in found.err


def test_the_gate_explores_as_machines_execute(run: Run, relaxed: Path) -> None:
    found = run("gate", relaxed.name)
    assert found.code == 1
    assert "users.c  imm" in found.out
    assert "allowed by imm   forbidden by rc20, sc, tso (x86)" in found.out
    assert found.out.rstrip().splitlines()[-1].startswith("1 finding, ")
    assert "safe" not in found.out.rstrip().splitlines()[-1]


def test_relax_proposes_nothing_that_a_machine_fails_with(run: Run, ordered: Path) -> None:
    found = run("relax", ordered.name)
    assert "under rc20 and imm" in found.out
    assert "help: write memory_order_release" in found.out
    alone = run("relax", ordered.name, "--model", "rc20")
    assert alone.out.count("help: write memory_order_relaxed") == 2


def test_models_without_races_say_so_of_a_program_that_races(run: Run, folder: Path) -> None:
    (folder / "race.c").write_text(RACE)
    found = run("check", "race.c")
    assert "race.c/race has a data race under rc20: sc and tso define no races" in found.out
    assert "imm" not in found.out


COMPARES = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;

static void *one(void *unused) {
  int expected = 1;
  atomic_compare_exchange_strong_explicit(&x, &expected, 2, ORDER, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  return unused;
}

static void *two(void *unused) {
  int expected = 1;
  atomic_compare_exchange_strong_explicit(&y, &expected, 2, ORDER, memory_order_relaxed);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(!(x == 2 && y == 2));
  return 0;
}
"""


def test_nothing_orders_a_compare_exchange_whose_result_is_not_used(run: Run, folder: Path) -> None:
    """As herd7 says of Armv8.1's instructions; a loop of LDXR and STXR has a branch."""
    (folder / "compares.c").write_text(COMPARES.replace("ORDER", "memory_order_relaxed"))
    found = results(run("check", "compares.c", "-m", "aarch64,imm,aarch64-llsc,power", "--json"))
    expected = {"aarch64": "Violated", "imm": "Violated", "aarch64-llsc": "Safe", "power": "Safe"}
    assert found == expected
    report = run("check", "compares.c", "-m", "aarch64").out
    assert "needs at least acquire on success and relaxed on failure under aarch64" in report
    assert "\u2500po\u2192" in report
    (folder / "compares.c").write_text(COMPARES.replace("ORDER", "memory_order_acquire"))
    assert results(run("check", "compares.c", "-m", "aarch64,imm", "--json")) == dict.fromkeys(
        ("aarch64", "imm"), "Safe"
    )


def test_a_branch_on_the_result_orders_what_the_program_stores_behind_it(
    run: Run, folder: Path
) -> None:
    text = COMPARES.replace("ORDER", "memory_order_relaxed")
    for line in ("atomic_compare_exchange_strong_explicit(",):
        text = text.replace(f"  {line}", f"  if ({line}")
    text = text.replace(
        "memory_order_relaxed);\n  atomic_store", "memory_order_relaxed))\n  atomic_store"
    )
    (folder / "compares.c").write_text(text)
    assert results(run("check", "compares.c", "-m", "aarch64,imm", "--json")) == dict.fromkeys(
        ("aarch64", "imm"), "Safe"
    )


ADDRESS = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int item[1], ready;

static void *writer(void *unused) {
  atomic_store_explicit(&item[0], 1, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_release);
  return unused;
}

static void *reader(void *unused) {
  int expected = 1;
  int r = READ;
  int seen = atomic_load_explicit(&item[INDEX], memory_order_relaxed);
  assert(r == 0 || seen == 1);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""
LOAD = "atomic_load_explicit(&ready, memory_order_relaxed)"
COMPARED = """atomic_compare_exchange_strong_explicit(
      &ready, &expected, 2, memory_order_relaxed, memory_order_relaxed)"""


@pytest.mark.parametrize(
    ("read", "index", "result"),
    [
        (LOAD, "r ^ r", "Safe"),
        (LOAD, "(r == 1) ^ (r == 1)", "Violated"),
        (COMPARED, "r ^ r", "Violated"),
    ],
)
def test_an_address_that_is_chosen_does_not_wait_as_one_that_is_computed(
    run: Run, folder: Path, read: str, index: str, result: str
) -> None:
    """As herd7 says of CSET and CAS (tests/agreement/litmus/AArch64)."""
    (folder / "address.c").write_text(ADDRESS.replace("READ", read).replace("INDEX", index))
    machines = ("aarch64", "aarch64-llsc", "power", "riscv")
    found = results(run("check", "address.c", "-m", ",".join(machines), "--json"))
    assert found == dict.fromkeys(machines, result)
