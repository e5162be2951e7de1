"""Threads that behave alike: which executions are explored once, and what tells threads apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explored_programs import MODELS as MODELS_FOLDER
from explored_programs import explored, kinds, program

if TYPE_CHECKING:
    from weakspot._engine import Acyclic, ExplorationDict

MODELS = ("sc", "tso", "rc11", "rc20")

ADDS = """
atomic_int x;
void *add(void *p) { atomic_fetch_add(&x, 1); return 0; }
"""

THREE = """
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) { BEFORE pthread_create(&t[i], 0, run, ARGUMENT); }
    for (int i = 0; i < 3; i++) { void *result = 0; pthread_join(t[i], RESULT); AFTER }
    return 0;
}
"""


def three(
    thread: str, *, before: str = "", argument: str = "0", result: str = "0", after: str = ""
) -> str:
    """A program of three threads `run`, started and joined one after the other."""
    given = {"BEFORE": before, "ARGUMENT": argument, "RESULT": result, "AFTER": after}
    main = THREE
    for name, text in given.items():
        main = main.replace(name, text)
    return thread + main


def both(folder: Path, text: str, model: str) -> tuple[ExplorationDict, ExplorationDict]:
    """What is found with exchanged threads left out, and with all executions."""
    found = program(folder, text)
    return explored(found, model), explored(found, model, symmetry=False)


@pytest.mark.parametrize("model", MODELS)
def test_nine_threads_that_add_have_one_execution(tmp_path: Path, model: str) -> None:
    found = explored(program(tmp_path, ADDS, *["add"] * 9), model)
    assert (found["result"], found["complete"], found["represented"]) == ("Safe", 1, 362_880)


@pytest.mark.parametrize("model", MODELS)
def test_a_violation_is_found_whichever_thread_it_needs(tmp_path: Path, model: str) -> None:
    text = """
    atomic_int x, y;
    void *run(void *p) {
        if (atomic_fetch_add(&x, 1) == 2) assert(LOAD(y) == 0);
        STORE(y, 1);
        return 0;
    }
    """
    some, every = both(tmp_path, three(text), model)
    assert kinds(some) == kinds(every) == {"assertion"}
    assert some["complete"] + some["faulty"] < every["complete"] + every["faulty"]


APART = {
    "an argument": three(
        "atomic_int x[3];\nvoid *run(void *p) { atomic_int *own = p;"
        " assert(own == x || own == x + 1 || own == x + 2); atomic_fetch_add(x, 1); return 0; }",
        argument="&x[i]",
    ),
    "an event before a thread is started": three(
        "atomic_int x, y;\nvoid *run(void *p)"
        " { if (LOAD(y) == 0) assert(atomic_fetch_add(&x, 1) == 0); return 0; }",
        before="STORE(y, i);",
    ),
    "an event after a thread was joined": three(
        "atomic_int x;\nvoid *run(void *p) { atomic_fetch_add(&x, 1); return 0; }",
        after="if (i == 0) assert(LOAD(x) != 1);",
    ),
    "what threads return": three(
        "atomic_int x;\nvoid *run(void *p) { return (void *)(long)atomic_fetch_add(&x, 1); }",
        result="&result",
        after="assert(i || !result);",
    ),
    "the number of a thread": three(
        "atomic_int x;\nvoid *run(void *p) { if ((long)pthread_self() % 3)"
        " assert(atomic_fetch_add(&x, 1)); return 0; }"
    ),
    "an address that is stored": three(
        "_Atomic(int *) x;\nvoid *run(void *p) { int own = 1;"
        " int *other = atomic_exchange(&x, &own); assert(!other || other < &own); return 0; }"
    ),
    "an address that is computed with": three(
        "atomic_int x;\nvoid *run(void *p) { int own = 1;"
        " if ((unsigned long)&own % 7 > 2) atomic_fetch_add(&x, 1);"
        " else assert(atomic_fetch_add(&x, 1)); return 0; }"
    ),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", APART.values(), ids=APART)
def test_threads_that_something_tells_apart_are_not_exchanged(
    tmp_path: Path, text: str, model: str
) -> None:
    some, every = both(tmp_path, text, model)
    assert (some["result"], kinds(some)) == (every["result"], kinds(every))
    assert some["represented"] == some["complete"] + some["blocked"] + some["faulty"]
    assert some["complete"] == every["complete"]


def test_what_ends_in_equal_results_is_exchanged(tmp_path: Path) -> None:
    text = three(
        "atomic_int x;\nvoid *run(void *p) { atomic_fetch_add(&x, 1); return p; }",
        result="&result",
        after="assert(!result);",
    )
    found = explored(program(tmp_path, text), "rc20")
    assert (found["complete"], found["represented"]) == (1, 6)


@pytest.mark.parametrize(("model", "acyclic"), [("rc20", "program order"), ("imm", "dependencies")])
def test_a_handle_that_threads_read_tells_them_apart(
    tmp_path: Path, model: str, acyclic: Acyclic
) -> None:
    text = """
    pthread_t t[3];
    atomic_int x;
    void *run(void *p) { if (t[0]) atomic_fetch_add(&x, 1); return 0; }
    int main(void) {
        for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, 0);
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    }
    """
    path = str(MODELS_FOLDER / f"{model}.cat")
    found = program(tmp_path, text).explore(path, folders=[str(MODELS_FOLDER)], acyclic=acyclic)
    assert (found["complete"], found["represented"]) == (6, 6)
