"""Threads that behave alike: which executions are explored once, and what tells threads apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explored_programs import MODELS as MODELS_FOLDER
from explored_programs import explored, kinds, program

from weakspot.harness.values.bounds import Part

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
    return explored(found, model), explored(found, model, part=Part(without=("symmetry",)))


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
    "an element that all threads access": three(
        "atomic_int x[3];\nvoid *run(void *p) { STORE(*(atomic_int *)p, 1);"
        " atomic_fetch_add(x, 1); return 0; }",
        argument="&x[i]",
    ),
    "an order of elements": three(
        "atomic_int x[3]; _Atomic(atomic_int *) last;\nvoid *run(void *p) {"
        " atomic_int *own = p, *other = atomic_exchange(&last, own);"
        " assert(!other || other < own); return 0; }",
        argument="&x[i]",
    ),
    "the next element": three(
        "atomic_int x[4];\nvoid *run(void *p) { atomic_int *own = p;"
        " atomic_fetch_add(own, 1); atomic_fetch_add(own + 1, 1); return 0; }",
        argument="&x[i]",
    ),
    "what elements contain at first": three(
        "atomic_int x[3] = {0, 0, 1}, y;\nvoid *run(void *p) {"
        " if (!atomic_fetch_add(&y, 1)) assert(!LOAD(*(atomic_int *)p)); return 0; }",
        argument="&x[i]",
    ),
    "what main reads of elements": three(
        "atomic_int x[3], y;\nvoid *run(void *p) {"
        " STORE(*(atomic_int *)p, atomic_fetch_add(&y, 1)); return 0; }",
        argument="&x[i]",
        after="if (i == 2) assert(LOAD(x[0]) != 2);",
    ),
    "an element that main names meanwhile": three(
        "atomic_int x[3], y;\nvoid *run(void *p) { atomic_fetch_add(&y, 1);"
        " atomic_fetch_add((atomic_int *)p, 1); return 0; }",
        argument="&x[i]",
    ).replace(
        "for (int i = 0; i < 3; i++) { void", "LOAD(x[1]); for (int i = 0; i < 3; i++) { void"
    ),
    "numbers that are added": three(
        "atomic_int x;\nvoid *run(void *p) { atomic_fetch_add(&x, (long)p); return 0; }",
        argument="(void *)(long)i",
    ),
    "a number that one thread tests": three(
        "atomic_int x;\nvoid *run(void *p) { int old = atomic_fetch_add(&x, 1);"
        " if ((long)p == 2) assert(old != 1); return 0; }",
        argument="(void *)(long)i",
    ),
    "results that differ": three(
        "atomic_int x;\nvoid *run(void *p) { atomic_fetch_add(&x, 1); return p; }",
        argument="(void *)(long)i",
        result="&result",
        after="assert((long)result == i);",
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


EXCHANGED = {
    "elements that are named": three(
        "atomic_int x[3], y;\nvoid *run(void *p) { atomic_int *own = p;"
        " assert(own == x || own == x + 1 || own == x + 2); atomic_fetch_add(&y, 1); return 0; }",
        argument="&x[i]",
    ),
    "elements that are written": three(
        "atomic_int x[3], y;\nvoid *run(void *p) { STORE(*(atomic_int *)p, 1);"
        " atomic_fetch_add(&y, 1); STORE(*(atomic_int *)p, 2); return 0; }",
        argument="&x[i]",
    ),
    "elements that are handed on": three(
        "atomic_int x[3]; _Atomic(atomic_int *) last;\nvoid *run(void *p) { atomic_int *own = p;"
        " STORE(*own, 1); atomic_int *before = atomic_exchange(&last, own);"
        " if (before) STORE(*before, 2); return 0; }",
        argument="&x[i]",
    ),
    "elements that name themselves": three(
        "struct node { struct node *self; } x[3] = {{x}, {x + 1}, {x + 2}};"
        " _Atomic(struct node *) last;\nvoid *run(void *p) { struct node *own = p;"
        " assert(own->self == own); atomic_exchange(&last, own->self); return 0; }",
        argument="&x[i]",
    ),
    "numbers of elements, packed": three(
        "atomic_int x[3]; atomic_uint last;\nvoid *run(void *p) { unsigned own = (long)p;"
        " unsigned before = atomic_exchange(&last, (own + 1) << 9 | 3) >> 9;"
        " if (before) STORE(x[before - 1], 2); return 0; }",
        argument="(void *)(long)i",
    ),
    "numbers that nothing uses": three(
        "atomic_int y;\nvoid *run(void *p) { atomic_fetch_add(&y, 1); return 0; }",
        argument="(void *)(long)(7 * i)",
    ),
    "results that nothing uses": three(
        "atomic_int y;\nvoid *run(void *p) { atomic_fetch_add(&y, 1); return p; }",
        argument="(void *)(long)i",
    ),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", EXCHANGED.values(), ids=EXCHANGED)
def test_threads_are_exchanged_with_the_elements_that_they_get(
    tmp_path: Path, text: str, model: str
) -> None:
    some, every = both(tmp_path, text, model)
    assert (some["result"], kinds(some)) == (every["result"], kinds(every))
    assert some["represented"] == every["complete"] + every["blocked"] + every["faulty"]
    assert 6 * some["complete"] == every["complete"]


def test_nine_threads_with_numbers_have_one_execution(tmp_path: Path) -> None:
    main = """
    int main(void) {
        pthread_t t[9];
        for (long i = 0; i < 9; i++) pthread_create(&t[i], 0, add, (void *)i);
        for (int i = 0; i < 9; i++) pthread_join(t[i], 0);
    }
    """
    found = explored(program(tmp_path, ADDS + main), "rc20")
    assert (found["complete"], found["represented"]) == (1, 362_880)


@pytest.mark.parametrize("acyclic", ["program order", "dependencies"])
def test_a_violation_is_found_whichever_element_it_needs(tmp_path: Path, acyclic: Acyclic) -> None:
    text = """
    atomic_int x[3]; _Atomic(atomic_int *) last;
    void *run(void *p) {
        atomic_int *own = p, *before = LOAD(last);
        STORE(*own, before ? LOAD(*before) + 1 : 1);
        assert(LOAD(*own) < 3);
        STORE(last, own);
        return 0;
    }
    """
    model = "imm" if acyclic == "dependencies" else "rc20"
    path = str(MODELS_FOLDER / f"{model}.cat")
    found = program(tmp_path, three(text, argument="&x[i]"))
    some, every = (
        found.explore(
            path, folders=[str(MODELS_FOLDER)], acyclic=acyclic, part=Part(without=without)
        )
        for without in ((), ("symmetry",))
    )
    assert kinds(some) == kinds(every) == {"assertion"}
    executions = every["complete"] + every["blocked"] + every["faulty"]
    assert some["represented"] == executions
    assert some["complete"] + some["faulty"] < every["complete"] + every["faulty"]


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
