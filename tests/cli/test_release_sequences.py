"""C++20 ends a release sequence at the next plain store; the earlier editions do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ended import Ended
from samples import Run

from weakspot.harness.corpus import models

PROGRAM = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int item;
atomic_int bottom;

static void *owner(void *unused) {
  item = 1;
  atomic_store_explicit(&bottom, 1, memory_order_release);
  NEXT
  return unused;
}

static void *thief(void *unused) {
  if (atomic_load_explicit(&bottom, memory_order_acquire) == 2)
    assert(item == 1);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, owner, 0);
  pthread_create(&b, 0, thief, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
"""
STORE = "atomic_store_explicit(&bottom, 2, memory_order_relaxed);"
RELEASE = "atomic_store_explicit(&bottom, 2, memory_order_release);"
ADD = "atomic_fetch_add_explicit(&bottom, 1, memory_order_relaxed);"
PERMITTED = models.load()["rc20"].permitted


@pytest.fixture
def deque(folder: Path) -> Path:
    path = folder / "deque.c"
    path.write_text(PROGRAM.replace("NEXT", STORE))
    return path


def explorations(ended: Ended) -> dict[str, Any]:
    values = map(json.loads, ended.out.splitlines())
    return {each["model"]: each for each in values if "program" in each}


def test_the_language_model_is_that_of_the_newest_release_sequences(run: Run, deque: Path) -> None:
    found = explorations(run("check", deque.name, "--json"))
    assert list(found) == ["sc", "tso", "rc20"]
    assert found["rc20"]["result"] == "Violated"
    older = explorations(run("check", deque.name, "-m", "rc11", "--json"))
    assert older["rc11"]["result"] == "Safe"


@pytest.mark.parametrize("following", [RELEASE, ADD])
def test_a_release_store_and_an_update_publish_in_every_edition(
    run: Run, deque: Path, following: str
) -> None:
    deque.write_text(PROGRAM.replace("NEXT", following))
    assert run("check", deque.name, "-m", "rc11,rc20").code == 0


def test_what_earlier_editions_permit_is_reported_as_such(run: Run, deque: Path) -> None:
    found = explorations(run("check", deque.name, "--json"))["rc20"]
    assert {each["absent_under"] for each in found["violations"]} == {"rc11"}
    for command in (("check", deque.name), ("gate", deque.name)):
        ended = run(*command)
        assert ended.code == 1
        assert "WS101" in ended.out + ended.err
        assert " ".join(f"({PERMITTED})".split()) in " ".join((ended.out + ended.err).split())


def test_what_no_edition_permits_is_not(run: Run, deque: Path) -> None:
    deque.write_text(PROGRAM.replace("NEXT", STORE).replace("1, memory_order_release", "1, 0"))
    ended = run("check", deque.name)
    assert ended.code == 1
    assert "permitted by" not in ended.out + ended.err


def test_an_error_without_an_access_is_compared_by_its_message(run: Run, folder: Path) -> None:
    path = folder / "branch.c"
    unset = "int unset;\n  if (atomic_load(&bottom) && unset) item = 2;"
    path.write_text(
        PROGRAM.replace("NEXT", RELEASE).replace(
            "if (atomic_load_explicit",
            f"""{unset}
  if (atomic_load_explicit""",
        )
    )
    ended = run("check", path.name)
    assert ended.code == 1
    assert "uninitialised variable" in ended.out + ended.err
    assert "permitted by" not in ended.out + ended.err
    assert "a memory order is too weak" not in ended.out + ended.err


def test_relax_repairs_the_store_that_publishes(run: Run, deque: Path) -> None:
    ended = run("relax", deque.name, "--json")
    found = json.loads(ended.out.splitlines()[0])
    assert found["model"] == "rc20"
    assert not found["suffices"]
    lines = [each["line"] for each in found["annotations"]]
    (weakest,) = found["weakest"]
    assert dict(zip(lines, weakest["orders"], strict=True)) == {10: "rel", 11: "rel", 16: "acq"}
