"""Small programs of a few threads, and what the explorer finds in them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weakspot._engine import Program
from weakspot.generators.source.frontend import compile_source

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict


MODELS = Path(__file__).parents[2] / "models"

HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#define LOAD(x) atomic_load_explicit(&x, memory_order_relaxed)
#define STORE(x, v) atomic_store_explicit(&x, v, memory_order_relaxed)
"""

MAIN = """
int main(void) {
    pthread_t t[THREADS];
    void *(*run[])(void *) = {RUN};
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, run[i], 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    AFTER
    return 0;
}
"""


def program(folder: Path, text: str, *threads: str, after: str = "") -> Program:
    """`text` with a main that starts the named functions, if any are named."""
    source = HEAD + textwrap.dedent(text)
    if threads:
        main = MAIN.replace("THREADS", str(len(threads))).replace("RUN", ", ".join(threads))
        source += main.replace("AFTER", after)
    path = folder / "program.c"
    path.write_text(source)
    return Program(compile_source(path).text)


def explored(found: Program, model: str, **how: Any) -> ExplorationDict:
    path = str(MODELS / f"{model}.cat")
    return found.explore(
        path,
        folders=[str(MODELS)],
        acyclic="dependencies" if model == "imm" else "program order",
        **how,
    )


def kinds(found: ExplorationDict) -> set[str]:
    return {violation["kind"] for violation in found["violations"]}


SB = """
atomic_int x, y; int a, b;
void *one(void *p) { STORE(x, 1); a = LOAD(y); return 0; }
void *two(void *p) { STORE(y, 1); b = LOAD(x); return 0; }
"""
MP = """
atomic_int x, y; int a, b;
void *one(void *p) { STORE(x, 1); STORE(y, 1); return 0; }
void *two(void *p) { a = LOAD(y); b = LOAD(x); return 0; }
"""


def violated(found: ExplorationDict, kind: str, message: str = "") -> None:
    assert found["result"] == "Violated"
    assert kinds(found) == {kind}, found["violations"]
    assert any(message in violation["message"] for violation in found["violations"])


COND = """
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready;
void *one(void *p) {
    pthread_mutex_lock(&m);
    WAIT pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return 0;
}
void *two(void *p) {
    pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);
    pthread_cond_signal(&c);
    return 0;
}
"""
