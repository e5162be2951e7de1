"""The reference explores what the search explores, with no reduction."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot.errors import WeakspotError
from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import DEFAULT, Part

REFERENCE = Part(reference=True)
HEAD = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n"

STORE_BUFFERING = """
static atomic_int x, y; static int a, b;
static void *t0(void *u) { atomic_store_explicit(&x, 1, memory_order_relaxed);
  a = atomic_load_explicit(&y, memory_order_relaxed); return 0; }
static void *t1(void *u) { atomic_store_explicit(&y, 1, memory_order_relaxed);
  b = atomic_load_explicit(&x, memory_order_relaxed); return 0; }
"""
LOCKS = """
static pthread_mutex_t m, n; static int a, b;
static void *t0(void *u) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); a++;
  pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }
static void *t1(void *u) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); a++;
  pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
"""
FREED = """
static _Atomic(int *) p; static int a, b;
static void *t0(void *u) { int *q = malloc(4); *q = 1; p = q; return 0; }
static void *t1(void *u) { int *q = p; if (q) { free(q); b = *q; } return 0; }
"""
OWN = """
static atomic_int x; static int a, b;
static void *t0(void *u) { int e = 0;
  assert(atomic_compare_exchange_weak(&x, &e, 1)); return 0; }
static void *t1(void *u) { return 0; }
"""
SPINS = """
static atomic_int x, y; static int a, b;
static void *t0(void *u) { while (!x) {} return 0; }
static void *t1(void *u) { y = 1; return 0; }
"""
MAIN = """
int main(void) { pthread_t p, q;
  pthread_create(&p, 0, t0, 0); pthread_create(&q, 0, t1, 0);
  pthread_join(p, 0); pthread_join(q, 0); return a + 2 * b; }
"""


def kinds(folder: Path, text: str, model: str, part: Part = REFERENCE) -> list[str]:
    path = folder / "program.c"
    path.write_text(HEAD + text + MAIN, encoding="utf-8")
    found = asked(read_program(path), models.load()[model], DEFAULT, jobs=1, part=part)
    return [found["result"], *(each["kind"] for each in found["violations"])]


@pytest.mark.parametrize("model", ["sc", "tso", "rc11", "rc20", "imm", "aarch64", "power", "riscv"])
@pytest.mark.parametrize("text", [STORE_BUFFERING, LOCKS, FREED, OWN, SPINS])
def test_the_reference_and_the_search_agree(tmp_path: Path, text: str, model: str) -> None:
    assert kinds(tmp_path, text, model) == kinds(tmp_path, text, model, Part())


def test_each_execution_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(HEAD + STORE_BUFFERING + MAIN, encoding="utf-8")
    program = read_program(path)
    counts = {
        model: asked(program, models.load()[model], DEFAULT, part=REFERENCE)["complete"]
        for model in ("sc", "tso", "rc20", "imm")
    }
    assert counts == {"sc": 3, "tso": 4, "rc20": 4, "imm": 4}


@pytest.mark.parametrize("model", ["sc", "rc20"])
def test_a_weak_exchange_of_an_object_of_one_thread_may_fail(tmp_path: Path, model: str) -> None:
    assert kinds(tmp_path, OWN, model, Part()) == ["Violated", "assertion"]


def test_threads_one_after_the_other_are_refused_under_dependencies(tmp_path: Path) -> None:
    main = MAIN.replace("pthread_create(&q", "pthread_join(p, 0); pthread_create(&q")
    text = STORE_BUFFERING + main.replace("pthread_join(p, 0); pthread_join(q", "pthread_join(q")
    path = tmp_path / "program.c"
    path.write_text(HEAD + text, encoding="utf-8")
    program = read_program(path)
    assert asked(program, models.load()["rc20"], DEFAULT, part=REFERENCE)["complete"] == 1
    with pytest.raises(WeakspotError, match="created when all others were joined"):
        asked(program, models.load()["imm"], DEFAULT, part=REFERENCE)


def test_a_loop_that_waits_is_not_called_safe(tmp_path: Path) -> None:
    text = SPINS.replace("y = 1", "x = 1")
    assert kinds(tmp_path, text, "sc") == ["Unknown"]
    assert kinds(tmp_path, text, "sc", Part()) == ["Safe"]
