"""Volatile accesses are plain ones, or with `volatile="relaxed"` relaxed atomic ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import weakspot
from weakspot.generators.source.build import Build
from weakspot.harness.gate.config import read as read_config

MAIL = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int letter;
struct __attribute__((packed)) { char before; TYPE volatile flag; } packed;
static TYPE volatile flag;
static void *thread(void *unused) {
  letter = 1;
  FENCE(memory_order_release);
  FLAG = (TYPE)1;
  return unused;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, thread, 0);
  for (volatile int i = 0; i < 2; i++) {
  }
  if (FLAG) {
    FENCE(memory_order_acquire);
    assert(letter == 1);
  }
  pthread_join(id, 0);
}
"""
FENCES = ("FENCE=atomic_thread_fence", "FLAG=flag")


@pytest.mark.parametrize("type_", ["char", "short", "int", "long", "double", "float", "void *"])
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_volatile_accesses_may_be_relaxed_atomic_ones(
    tmp_path: Path, type_: str, suffix: str
) -> None:
    path = tmp_path / f"mail{suffix}"
    path.write_text(MAIL)
    build = Build(defines=(f"TYPE={type_}", *FENCES))
    assert kinds(path, build) == {"assertion", "race"}
    assert kinds(path, Build(volatile="relaxed").over(build)) == set()
    assert kinds(path, Build(volatile="plain").over(Build(volatile="relaxed").over(build)))


def test_a_race_of_a_volatile_access_says_how_to_take_it_for_an_atomic_one(tmp_path: Path) -> None:
    path = tmp_path / "mail.c"
    path.write_text(MAIL)
    build = Build(defines=("TYPE=int", *FENCES))
    (found,) = weakspot.explore(path, models=["rc20"], build=build)
    (note,) = found.notes
    assert "mail.c:10: " in note
    assert "--volatile relaxed" in note
    path.write_text(MAIL.replace("volatile ", ""))
    (found,) = weakspot.explore(path, models=["rc20"], build=build)
    assert found.violations
    assert not found.notes


def test_they_order_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mail.c"
    path.write_text(MAIL)
    build = Build(defines=("TYPE=int", "FENCE(order)=(void)0", "FLAG=flag"), volatile="relaxed")
    assert kinds(path, build) == {"assertion", "race"}


@pytest.mark.parametrize(
    ("type_", "flag", "races"), [("char", "packed", False), ("int", "packed", True)]
)
def test_what_no_atomic_access_reads_stays_plain(
    tmp_path: Path, type_: str, flag: str, races: bool
) -> None:
    path = tmp_path / "mail.c"
    path.write_text(MAIL)
    defines = (f"TYPE={type_}", "FENCE=atomic_thread_fence", f"FLAG={flag}.flag")
    assert ("race" in kinds(path, Build(defines=defines, volatile="relaxed"))) == races


def test_the_configuration_may_say_so(tmp_path: Path) -> None:
    (tmp_path / "weakspot.toml").write_text('[build]\nvolatile = "relaxed"\n')
    assert read_config(tmp_path / "weakspot.toml").build.relaxes_volatile


def kinds(path: Path, build: Build) -> set[str]:
    (found,) = weakspot.explore(path, models=["rc20"], build=build)
    return {each.kind for each in found.violations}
