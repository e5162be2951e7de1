"""Programs whose threads wait: spin locks, conditions, deadlocks and hangs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from explored_programs import COND, MODELS, explored, kinds, program, violated

from weakspot.harness.values.bounds import Part

TAS = """
atomic_int lock; int inside;
void *work(void *p) {
    while (ACQUIRE) { }
    assert(++inside == 1);
    inside--;
    atomic_store_explicit(&lock, 0, memory_order_RELEASE);
    return 0;
}
"""


@pytest.mark.parametrize(
    "acquire",
    [
        "atomic_exchange_explicit(&lock, 1, memory_order_acquire)",
        "({ int e = 0; !atomic_compare_exchange_strong_explicit(&lock, &e, 1, "
        "memory_order_acquire, memory_order_relaxed); })",
        "({ int e = 0; !atomic_compare_exchange_weak_explicit(&lock, &e, 1, "
        "memory_order_acquire, memory_order_relaxed); })",
    ],
)
def test_a_spin_lock_waits_without_a_bound(tmp_path: Path, acquire: str) -> None:
    text = TAS.replace("ACQUIRE", acquire)
    good = program(tmp_path, text.replace("RELEASE", "release"), "work", "work")
    for model in ("sc", "tso", "rc11"):
        found = explored(good, model)
        assert (found["result"], found["complete"]) == ("Safe", 2), (model, found)
    bad = program(tmp_path, text.replace("RELEASE", "relaxed"), "work", "work")
    assert explored(bad, "tso")["result"] == "Safe"
    assert "race" in kinds(explored(bad, "rc11"))


TICKET = """
atomic_int next, serving; int inside;
void *work(void *p) {
    int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_ACQUIRE) != mine) { }
    assert(++inside == 1);
    inside--;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
    return 0;
}
"""


def test_a_ticket_lock_has_one_execution_for_each_order(tmp_path: Path) -> None:
    good = program(tmp_path, TICKET.replace("ACQUIRE", "acquire"), "work", "work", "work")
    found = explored(good, "rc11")
    assert (found["result"], found["complete"]) == ("Safe", 1)
    every = explored(good, "rc11", part=Part(without=("symmetry",)))
    assert (every["result"], every["complete"]) == ("Safe", 6)
    assert found["represented"] == every["represented"]
    bad = program(tmp_path, TICKET.replace("ACQUIRE", "relaxed"), "work", "work")
    assert "race" in kinds(explored(bad, "rc11"))


def test_a_wait_that_nothing_ends_is_a_hang(tmp_path: Path) -> None:
    text = """
    atomic_int flag;
    void *one(void *p) { while (!LOAD(flag)) { } return 0; }
    void *two(void *p) { STORE(flag, 0); return 0; }
    """
    violated(explored(program(tmp_path, text, "one", "two"), "rc11"), "hang", "thread 1")


def test_a_thread_hangs_although_main_is_over(tmp_path: Path) -> None:
    text = """
    atomic_int flag, done;
    void *one(void *p) { STORE(done, 1); while (!LOAD(flag)) { } return 0; }
    int main(void) {
        pthread_t t;
        pthread_create(&t, 0, one, 0);
        while (!LOAD(done)) { }
        END
    }
    """
    for end in ("return 0;", "pthread_join(t, 0);"):
        found = program(tmp_path, text.replace("END", end))
        violated(explored(found, "rc11"), "hang", "thread 1")


def test_a_signal_that_comes_before_the_wait_is_lost(tmp_path: Path) -> None:
    good = program(tmp_path, COND.replace("WAIT", "while (!ready)"), "one", "two")
    bad = program(tmp_path, COND.replace("WAIT", ""), "one", "two")
    for model in ("sc", "rc11"):
        found = explored(good, model)
        assert (found["result"], found["reasons"]) == ("Safe", [])
        violated(explored(bad, model), "hang", "a condition")


def test_a_signal_wakes_one_and_a_broadcast_all(tmp_path: Path) -> None:
    text = COND.replace("WAIT", "while (!ready)")
    threads = ("one", "one", "two")
    violated(explored(program(tmp_path, text, *threads), "sc"), "hang", "a condition")
    text = text.replace("cond_signal", "cond_broadcast")
    assert explored(program(tmp_path, text, *threads), "sc")["result"] == "Safe"


def test_two_mutexes_in_two_orders_are_a_deadlock(tmp_path: Path) -> None:
    text = """
    mtx_t a, b;
    int one(void *p) { mtx_lock(&a); mtx_lock(&b); mtx_unlock(&b); mtx_unlock(&a); return 0; }
    int two(void *p) { mtx_lock(FIRST); mtx_lock(SECOND); mtx_unlock(SECOND); mtx_unlock(FIRST);
                       return 0; }
    int main(void) {
        thrd_t s, t;
        mtx_init(&a, mtx_plain); mtx_init(&b, mtx_plain);
        thrd_create(&s, one, 0); thrd_create(&t, two, 0);
        thrd_join(s, 0); thrd_join(t, 0);
    }
    """
    crossed = text.replace("FIRST", "&b").replace("SECOND", "&a")
    violated(explored(program(tmp_path, crossed), "rc11"), "hang", "a lock")
    same = text.replace("FIRST", "&a").replace("SECOND", "&b")
    found = explored(program(tmp_path, same), "rc11")
    assert (found["result"], found["complete"]) == ("Safe", 2)


def test_a_lock_that_main_took_before_it_started_threads_is_waited_for(tmp_path: Path) -> None:
    text = """
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    void *one(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
    int main(void) {
        pthread_t s, t;
        pthread_mutex_lock(&m);
        pthread_create(&s, 0, one, 0); pthread_create(&t, 0, one, 0);
        GIVEN_BACK
        pthread_join(s, 0); pthread_join(t, 0);
    }
    """
    violated(explored(program(tmp_path, text.replace("GIVEN_BACK", "")), "rc11"), "hang", "a lock")
    given_back = text.replace("GIVEN_BACK", "pthread_mutex_unlock(&m);")
    found = explored(program(tmp_path, given_back), "rc11")
    assert (found["result"], found["complete"], found["blocked"]) == ("Safe", 2, 0)


TWO_READS = """
atomic_int x, y;
void *NAME(void *unused) {
    int sum = 0, now;
    while ((now = LOAD(x)) != 1) sum = 5 * sum + LOAD(y);
    if (5 * sum + now == 77) STORE(x, 1);
    return 0;
}
"""


def computing(folder: Path, model: str, *threads: str) -> Any:
    text = TWO_READS.replace("NAME", "one")
    other = TWO_READS.split(";", 1)[1].replace("NAME", "other")
    return program(folder, text + other, *threads).explore(
        str(MODELS / f"{model}.cat"),
        folders=[str(MODELS)],
        acyclic="dependencies" if model == "imm" else "program order",
    )


@pytest.mark.parametrize(
    ("model", "threads"),
    [
        ("sc", ["one", "other"]),
        ("rc20", ["one", "other"]),
        ("imm", ["one"]),
        ("imm", ["one", "other"]),
        ("imm", ["one", "other", "one"]),
    ],
)
def test_threads_that_compute_with_what_they_read_while_they_wait_hang(
    tmp_path: Path, model: str, threads: list[str]
) -> None:
    assert kinds(computing(tmp_path, model, *threads)) == {"hang"}
