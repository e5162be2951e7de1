"""Barriers: in which order threads arrive is explored only where something depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from explored_programs import MODELS as FOLDER
from explored_programs import program

from weakspot._engine import Program
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.values.bounds import Part, Reduction

if TYPE_CHECKING:
    from weakspot._engine import Acyclic, ExplorationDict

MODELS: dict[str, Acyclic] = {
    "sc": "program order",
    "tso": "program order",
    "rc11": "program order",
    "rc20": "program order",
    "imm": "dependencies",
    "aarch64-programs": "dependencies",
}


def found(explored: Program, model: str, *, without: tuple[Reduction, ...] = ()) -> ExplorationDict:
    return explored.explore(
        str(FOLDER / f"{model}.cat"),
        folders=[str(FOLDER)],
        acyclic=MODELS[model],
        part=Part(without=without),
    )


def violations(exploration: ExplorationDict) -> set[tuple[str, str]]:
    """What is violated; which thread waits is left out."""
    return {
        (each["kind"], each["message"].partition("waits")[2] or each["message"])
        for each in exploration["violations"]
    }


MEET = """
pthread_barrier_t b;
int x[THREADS + 1];
void *run(void *p) {
    int me = (int)(long)p;
    for (int i = 0; i < ROUNDS; i++) {
        BEFORE
        pthread_barrier_wait(&b);
        AFTER
    }
    return 0;
}
int main(void) {
    pthread_t t[THREADS];
    pthread_barrier_init(&b, 0, COUNT);
    for (long i = 0; i < THREADS; i++) pthread_create(&t[i], 0, run, (void *)ARGUMENT);
    MEANWHILE
    for (long i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    END
    return 0;
}
"""


def meeting(
    folder: Path,
    threads: int,
    rounds: int = 1,
    *,
    count: str = "",
    before: str = "",
    after: str = "",
    meanwhile: str = "",
    end: str = "",
    alike: bool = False,
) -> Program:
    """A program whose threads meet at a barrier."""
    text = MEET
    for name, value in {
        "THREADS": str(threads),
        "ROUNDS": str(rounds),
        "COUNT": count or str(threads),
        "BEFORE": before,
        "AFTER": after,
        "MEANWHILE": meanwhile,
        "END": end,
        "ARGUMENT": "0" if alike else "i",
    }.items():
        text = text.replace(name, value)
    return program(folder, text)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("threads", "rounds"), [(2, 1), (2, 3), (3, 2), (4, 3), (5, 2)])
def test_arrivals_are_not_ordered(
    tmp_path: Path, model: str, threads: int, rounds: int, alike: bool
) -> None:
    explored = found(meeting(tmp_path, threads, rounds, alike=alike), model)
    counts = (explored["complete"], explored["blocked"], explored["represented"])
    assert (explored["result"], counts) == ("Safe", (1, 0, 1))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("threads", "rounds", "executions"), [(2, 1, 2), (2, 3, 18), (3, 2, 132)])
def test_all_orders_of_arrivals_are_explored_if_asked_for(
    tmp_path: Path, model: str, threads: int, rounds: int, executions: int
) -> None:
    explored = found(meeting(tmp_path, threads, rounds), model, without=("arrivals", "symmetry"))
    assert (explored["result"], explored["complete"]) == ("Safe", executions)


@pytest.mark.parametrize("model", MODELS)
def test_data_passes_from_phase_to_phase(tmp_path: Path, model: str) -> None:
    explored = meeting(
        tmp_path,
        3,
        2,
        before="x[me] = i + 1;",
        after="assert(x[(me + 1) % 3] == i + 1); pthread_barrier_wait(&b);",
        end="pthread_barrier_destroy(&b);",
    )
    exploration = found(explored, model)
    assert (exploration["result"], exploration["complete"]) == ("Safe", 1)


@pytest.mark.parametrize("model", MODELS)
def test_threads_that_behave_alike_do_so_after_a_barrier(tmp_path: Path, model: str) -> None:
    explored = meeting(
        tmp_path, 4, after="atomic_fetch_add((atomic_int *)x, 1);", rounds=2, alike=True
    )
    exploration = found(explored, model)
    assert (exploration["result"], exploration["complete"]) == ("Safe", 24)
    assert (
        exploration["represented"]
        == found(explored, model, without=("symmetry",))["complete"]
        == 576
    )


WRONG: dict[str, dict[str, Any]] = {
    "a race in a phase": {"after": "x[0] = me;"},
    "what the other has not written yet": {"before": "x[me] = 1; assert(!x[1 - me] || me);"},
    "an assertion about the next phase": {
        "before": "__atomic_store_n(&x[me], i, __ATOMIC_RELAXED);",
        "after": "assert(__atomic_load_n(&x[1 - me], __ATOMIC_RELAXED) == i);",
    },
    "one thread too few": {"count": "3"},
    "one thread too many": {"count": "1"},
    "a thread that leaves early": {
        "before": "__atomic_store_n(&x[me], 1, __ATOMIC_RELAXED);"
        " if (me && __atomic_load_n(&x[0], __ATOMIC_RELAXED)) return 0;"
    },
    "a destruction in use": {"meanwhile": "pthread_barrier_destroy(&b);"},
    "a second initialisation": {"meanwhile": "pthread_barrier_init(&b, 0, 2);"},
    "a use after the end": {"end": "pthread_barrier_destroy(&b); pthread_barrier_wait(&b);"},
    "a barrier for no threads": {"count": "0"},
    "a third thread that waits": {"meanwhile": "pthread_barrier_wait(&b);"},
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("parts", WRONG.values(), ids=WRONG)
def test_what_goes_wrong_is_found(tmp_path: Path, model: str, parts: dict[str, Any]) -> None:
    explored = meeting(tmp_path, 2, 2, **parts)
    some, every = found(explored, model), found(explored, model, without=("arrivals",))
    assert (some["result"], violations(some)) == (every["result"], violations(every))


def test_a_witness_names_the_barrier(tmp_path: Path) -> None:
    early = WRONG["a thread that leaves early"]
    exploration = found(meeting(tmp_path, 2, **early), "rc20")
    witness = exploration["violations"][0]["witness"]
    assert witness is not None
    assert {event["location"] for event in witness["events"]} == {"x[0]", "b"}


@pytest.mark.parametrize("model", MODELS)
def test_who_is_last_matters_where_the_result_is_used(tmp_path: Path, model: str) -> None:
    text = """
    pthread_barrier_t b;
    int last;
    void *run(void *p) {
        if (pthread_barrier_wait(&b)) { last = 1 + (p != 0); }
        return 0;
    }
    int main(void) {
        pthread_t t[2];
        pthread_barrier_init(&b, 0, 2);
        for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)i);
        for (long i = 0; i < 2; i++) pthread_join(t[i], 0);
        assert(last == WHO);
        return 0;
    }
    """
    for who in ("1", "2"):
        explored = found(program(tmp_path, text.replace("WHO", who)), model)
        assert (explored["result"], explored["complete"]) == ("Violated", 1)


@pytest.mark.parametrize("model", ["imm", "aarch64-programs"])
def test_who_is_last_matters_to_other_threads_of_a_machine(tmp_path: Path, model: str) -> None:
    """The last thread may read before others see what it wrote before the barrier."""
    text = """
    pthread_barrier_t b;
    atomic_int x, y; int read;
    void *run(void *p) {
        if (p) STORE(x, 1);
        pthread_barrier_wait(&b);
        if (p) read = LOAD(y);
        return 0;
    }
    void *other(void *p) {
        STORE(y, 1);
        atomic_thread_fence(memory_order_seq_cst);
        return (void *)(long)LOAD(x);
    }
    int main(void) {
        pthread_t t[3]; void *result;
        pthread_barrier_init(&b, 0, 2);
        for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)FIRST);
        pthread_create(&t[2], 0, other, 0);
        for (long i = 0; i < 2; i++) pthread_join(t[i], 0);
        pthread_join(t[2], &result);
        assert(read || result);
        return 0;
    }
    """
    for first in ("i", "!i"):
        explored = program(tmp_path, text.replace("FIRST", first))
        some, every = found(explored, model), found(explored, model, without=("arrivals",))
        assert some["result"] == every["result"] == "Violated"


CXX = """
#include <barrier>
#include <cassert>
#include <thread>
int x[2];
COMPLETION
int main() {
    std::barrier b(2 MORE);
    auto run = [&](int me) {
        for (int i = 0; i < 2; i++) { x[me] = i; b.arrive_and_wait(); assert(x[1 - me] == i);
            b.arrive_and_wait(); }
    };
    std::thread one(run, 0), two(run, 1);
    one.join();
    two.join();
    END
}
"""


def cxx(folder: Path, *, completion: str = "", end: str = "") -> Program:
    path = folder / "program.cpp"
    more = ", done" if completion else ""
    text = CXX.replace("COMPLETION", completion).replace("MORE", more).replace("END", end)
    path.write_text(text)
    return Program(compile_source(path).text)


@pytest.mark.parametrize("model", ["sc", "rc20", "imm"])
def test_arrivals_are_not_ordered_in_cxx(tmp_path: Path, model: str) -> None:
    explored = found(cxx(tmp_path), model)
    assert (explored["result"], explored["complete"]) == ("Safe", 1)


def test_a_cxx_barrier_may_be_used_otherwise(tmp_path: Path) -> None:
    for parts in (
        {"completion": "int phases; auto done = []() noexcept { phases++; };"},
        {"end": "b.arrive_and_drop(); (void)b.arrive();"},
    ):
        explored = found(cxx(tmp_path, **parts), "rc20")
        assert explored["result"] == "Safe"
        assert explored["complete"] > 1
