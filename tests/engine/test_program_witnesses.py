"""The execution shown with a violation: the cycle and what the error needs, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explored_programs import COND, MODELS, MP, SB, explored, program

if TYPE_CHECKING:
    from weakspot._engine import ExecutionDict


def accesses_by_thread(witness: ExecutionDict) -> dict[int, list[str]]:
    """The events of each thread, as "W x 1"; initial values are left out."""
    columns: dict[int, list[str]] = {}
    for event in witness["events"]:
        if event["thread"] is not None:
            value = event["written"] or event["read"]
            text = f"{event['kind']} {event['location']} {value}".strip()
            columns.setdefault(event["thread"], []).append(text)
    return columns


def around(witness: ExecutionDict) -> str:
    labels = [event["label"] for event in witness["events"]]
    return " ".join(f"{labels[a]}-{kind}-{labels[b]}" for a, b, kind in witness["cycle"])


def test_a_witness_is_the_cycle_and_what_the_assertion_reads(tmp_path: Path) -> None:
    noise = "STORE(z, 1); LOAD(z);"
    text = SB.replace("STORE(x, 1)", f"{noise} STORE(x, 1)").replace("x, y;", "x, y, z;")
    noisy = program(tmp_path, text, "one", "two", after="LOAD(z); assert(a || b); LOAD(z);")
    found = explored(noisy, "tso")
    (violation,) = found["violations"]
    witness = violation["witness"]
    assert accesses_by_thread(witness) == {
        0: ["R a 0", "R b 0"],
        1: ["W x 1", "R y 0", "W a 0"],
        2: ["W y 1", "R x 0", "W b 0"],
    }
    assert around(witness) == "c-po-d d-fr-f f-po-g g-fr-c"
    assert witness["functions"] == ["main", "one", "two"]
    sites = {event["label"]: event["site"] for event in witness["events"]}
    place = noisy.sites[sites["c"] or 0]
    assert (place["file"], place["function"]) == ("program.c", "one")


SPURIOUS = [
    pytest.param(
        """
        atomic_int x;
        void *one(void *p) {
          int expected = 0;
          assert(atomic_compare_exchange_weak(&x, &expected, 1));
          return 0;
        }
        void *two(void *p) { LOAD(x); return 0; }
        """,
        ["FAILS"],
        id="a weak compare-exchange",
    ),
    pytest.param(
        """
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t c = PTHREAD_COND_INITIALIZER;
        int ready;
        void *one(void *p) {
          pthread_mutex_lock(&m);
          if (!ready) pthread_cond_wait(&c, &m);
          assert(ready);
          pthread_mutex_unlock(&m);
          return 0;
        }
        void *two(void *p) {
          pthread_mutex_lock(&m);
          ready = 1;
          pthread_cond_signal(&c);
          pthread_mutex_unlock(&m);
          return 0;
        }
        """,
        ["R ready 0", "RETURNS", "R ready 0"],
        id="a wait for a condition",
    ),
    pytest.param(
        """
        #include <linux/futex.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        atomic_int x;
        void *one(void *p) {
          if (LOAD(x) == 0) syscall(SYS_futex, &x, FUTEX_WAIT, 0, 0, 0, 0);
          assert(LOAD(x) == 1);
          return 0;
        }
        void *two(void *p) {
          STORE(x, 1);
          syscall(SYS_futex, &x, FUTEX_WAKE, 1, 0, 0, 0);
          return 0;
        }
        """,
        ["R x 0", "R x 0", "RETURNS", "R x 0"],
        id="a wait for a futex",
    ),
    pytest.param(
        """
        #include <time.h>
        atomic_int x;
        void *one(void *p) {
          time_t before = time(0);
          assert(time(0) > before);
          STORE(x, 1);
          return 0;
        }
        void *two(void *p) { LOAD(x); return 0; }
        """,
        ["CLOCK"],
        id="a clock",
    ),
]


@pytest.mark.parametrize(("text", "events"), SPURIOUS)
def test_what_happens_spuriously_is_shown(tmp_path: Path, text: str, events: list[str]) -> None:
    found = explored(program(tmp_path, text, "one", "two"), "sc")
    (violation,) = found["violations"]
    assert accesses_by_thread(violation["witness"])[1] == events


NOISY = [
    pytest.param("int e = 0; atomic_compare_exchange_weak(&w, &e, 1);", id="what may fail"),
    pytest.param("LOAD(z); atomic_fetch_add(&w, 1);", id="accesses"),
    pytest.param("if (LOAD(z)) STORE(w, 1);", id="a branch"),
    pytest.param("if (LOAD(z) == 1) STORE(w, 1); else STORE(w, LOAD(z));", id="two ways"),
    pytest.param("for (int i = 0; i < 2; i++) if (LOAD(z)) STORE(w, i);", id="a loop"),
]


@pytest.mark.parametrize("noise", NOISY)
def test_events_that_a_violation_does_not_need_are_not_shown(tmp_path: Path, noise: str) -> None:
    """Another thread, and what the threads do before, between and after, as operations of their
    own."""
    text = f"""
    atomic_int x, y, z, w; int a, b;
    static void other(void) {{ {noise} }}
    void *one(void *p) {{ other(); STORE(x, 1); a = LOAD(y); return 0; }}
    void *two(void *p) {{ STORE(y, 1); b = LOAD(x); other(); return 0; }}
    void *three(void *p) {{ STORE(z, 1); return 0; }}
    """
    threads = ("three", "one", "two")
    found = explored(program(tmp_path, text, *threads, after="LOAD(w); assert(a || b);"), "tso")
    (violation,) = found["violations"]
    assert accesses_by_thread(violation["witness"]) == {
        0: ["R a 0", "R b 0"],
        2: ["W x 1", "R y 0", "W a 0"],
        3: ["W y 1", "R x 0", "W b 0"],
    }
    assert around(violation["witness"]) == "c-po-d d-fr-f f-po-g g-fr-c"


def test_one_of_several_threads_with_the_same_error_is_shown(tmp_path: Path) -> None:
    text = """
    atomic_int x, y;
    void *one(void *p) { STORE(y, 1); return 0; }
    void *two(void *p) { LOAD(y); assert(!LOAD(x)); return 0; }
    void *three(void *p) { STORE(x, 1); return 0; }
    """
    found = explored(program(tmp_path, text, "one", "two", "two", "three"), "rc11")
    (violation,) = found["violations"]
    assert sorted(accesses_by_thread(violation["witness"]).values()) == [["R x 1"], ["W x 1"]]


def test_a_value_that_can_only_be_read_as_it_is_is_not_shown(tmp_path: Path) -> None:
    """A ticket that one thread draws, and the value that follows from it, are such values."""
    text = MP.replace("x, y;", "x, y, put, take;")
    text = text.replace("STORE(y, 1)", "if (atomic_fetch_add(&put, 1) == 0) STORE(y, 1)")
    text = text.replace("a = LOAD(y);", "if (atomic_fetch_add(&take, 1)) return 0; a = LOAD(y);")
    found = explored(program(tmp_path, text, "one", "two", after="assert(!a || b);"), "rc11")
    (violation,) = found["violations"]
    assert accesses_by_thread(violation["witness"]) == {
        0: ["R a 1", "R b 0"],
        1: ["W x 1", "W y 1"],
        2: ["R y 1", "W a 1", "R x 0", "W b 0"],
    }


def test_a_hang_shows_why_nobody_ends_it_and_nothing_else(tmp_path: Path) -> None:
    text = """
    atomic_int flag, asked, other, more;
    void *one(void *p) { STORE(other, 1); while (!LOAD(flag)) { } return 0; }
    void *two(void *p) { LOAD(more); if (LOAD(asked)) STORE(flag, 1); STORE(other, 2); return 0; }
    void *three(void *p) { STORE(more, 1); if (LOAD(other)) STORE(more, 2); return 0; }
    void *four(void *p) { STORE(asked, 1); return 0; }
    """
    found = explored(program(tmp_path, text, "one", "two", "three", "four"), "sc")
    (violation,) = found["violations"]
    witness = violation["witness"]
    assert accesses_by_thread(witness) == {1: ["R flag 0"], 2: ["R asked 0"]}
    assert [wait["thread"] for wait in witness["waits"]] == [0, 1]


def test_the_witness_of_a_race_is_how_the_two_accesses_are_not_ordered(tmp_path: Path) -> None:
    text = MP.replace("atomic_int x, y;", "int x; atomic_int y, z;").replace("STORE(x, 1)", "x = 1")
    text = text.replace("LOAD(x)", "LOAD(z) + (a ? x : 0)")
    (violation,) = explored(program(tmp_path, text, "one", "two"), "rc11")["violations"]
    witness = violation["witness"]
    assert accesses_by_thread(witness) == {
        1: ["W x 1", "W y 1"],
        2: ["R y 1", f"R x {violated_read(witness)}"],
    }
    assert witness["conflict"] is not None
    first, second = witness["conflict"]
    assert {witness["events"][end]["location"] for end in (first, second)} == {"x"}
    assert violation["message"] == "data-race on x"
    assert set(violation["accesses"]) == {witness["events"][end]["site"] for end in (first, second)}


def test_the_witness_of_a_wild_pointer_is_where_it_came_from(tmp_path: Path) -> None:
    text = """
    atomic_long other, x; _Atomic(atomic_long *) box;
    void *one(void *p) {
        STORE(other, 1);
        atomic_long *q = malloc(sizeof *q);
        STORE(*q, 1);
        atomic_store_explicit(&box, q + 8, memory_order_release);
        return 0;
    }
    void *two(void *p) {
        LOAD(other);
        atomic_long *q = atomic_load_explicit(&box, memory_order_acquire);
        if (q) STORE(*q, 2);
        return 0;
    }
    """
    (violation,) = explored(program(tmp_path, text, "one", "two"), "sc")["violations"]
    assert violation["kind"] == "memory"
    (column, other) = accesses_by_thread(violation["witness"]).values()
    assert [line.split()[:2] for line in (*column, *other)] == [["W", "box"], ["R", "box"]]


def violated_read(witness: ExecutionDict) -> str:
    (value,) = (e["read"] for e in witness["events"] if (e["kind"], e["location"]) == ("R", "x"))
    return value


def test_the_witness_of_a_lost_signal_shows_it_before_the_wait(tmp_path: Path) -> None:
    bad = program(tmp_path, COND.replace("WAIT", ""), "one", "two")
    (violation,) = explored(bad, "sc")["violations"]
    witness = violation["witness"]
    assert accesses_by_thread(witness) == {1: ["RMW c 2", "R c 2"], 2: ["R c 0"]}
    labels = [event["label"] for event in witness["events"]]
    assert [(labels[a], labels[b]) for a, b in witness["fr"]] == [("c", "a")]
    assert [(wait["thread"], wait["what"]) for wait in witness["waits"]] == [
        (0, "another thread to end"),
        (1, "a condition variable"),
    ]


ANNOUNCED = """
    #include <pthread.h>
    #include <stdatomic.h>
    atomic_int announced, taken; int value;
    void *reader(void *p) {
      STORE(announced, 1);
      if (!LOAD(taken)) (void)*(volatile int *)&value;
      return 0;
    }
    void *writer(void *p) {
      STORE(taken, 1);
      if (!LOAD(announced)) value = 2;
      return 0;
    }
"""


def test_a_race_that_no_synchronisation_orders_is_shown_with_its_cycle(tmp_path: Path) -> None:
    found = explored(program(tmp_path, ANNOUNCED, "reader", "writer"), "rc20")
    (violation,) = found["violations"]
    witness = violation["witness"]
    assert violation["kind"] == "race"
    assert accesses_by_thread(witness) == {
        1: ["W announced 1", "R taken 0", "R value 0"],
        2: ["W taken 1", "R announced 0", "W value 2"],
    }
    assert sorted(kind for *_, kind in witness["cycle"]) == ["fr", "fr", "po", "po"]


POSTED = """
    #include <pthread.h>
    #include <stdatomic.h>
    #include <assert.h>
    atomic_int open; int value;
    void *post(void *p) {
      value = 1;
      atomic_store_explicit(&open, 1, memory_order_release);
      return 0;
    }
    void *wait(void *p) {
      int now = LOAD(open);
      if (now && atomic_compare_exchange_strong_explicit(
              &open, &now, 0, memory_order_relaxed, memory_order_relaxed))
        assert(value == 1);
      return 0;
    }
"""


def test_each_access_that_could_synchronise_is_in_the_witness(tmp_path: Path) -> None:
    """The compare-exchange that a repair strengthens reads what the load before it has read."""
    found = explored(program(tmp_path, POSTED, "post", "wait"), "rc20")
    for violation in found["violations"]:
        shown = accesses_by_thread(violation["witness"])[2]
        assert shown[:2] == ["R open 1", "RMW open 0"], violation["kind"]


def test_a_flag_of_the_model_has_its_name_and_shows_its_events(tmp_path: Path) -> None:
    (tmp_path / "own.cat").write_text(
        '"own"\ninclude "rc20.cat"\n'
        "flag ~empty [W & RLX]; rf & ext; [R] as handed-over\n"
        "flag ~empty W & SC as strong-store\n"
    )
    built = program(tmp_path, MP, "one", "two")
    found = built.explore(str(tmp_path / "own.cat"), folders=[str(MODELS)], acyclic="program order")
    flags = {each["message"]: each for each in found["violations"] if each["kind"] == "flag"}
    assert {*flags} == {"flag handed-over is raised"}
    shown = accesses_by_thread(flags["flag handed-over is raised"]["witness"])
    assert {event.split()[0] for events in shown.values() for event in events} == {"W", "R"}


LOCKED = """
    #include <pthread.h>
    #include <stdatomic.h>
    atomic_int taken; int count;
    void *work(void *p) {
      while (atomic_exchange_explicit(&taken, 1, memory_order_relaxed)) { }
      count = count + 1;
      STORE(taken, 0);
      return 0;
    }
"""


def test_a_race_is_listed_once_whichever_access_comes_first(tmp_path: Path) -> None:
    found = explored(program(tmp_path, LOCKED, "work", "work"), "rc20")
    races = [each["message"] for each in found["violations"] if each["kind"] == "race"]
    places = [tuple(sorted(message.split()[-3::2])) for message in races]
    assert races
    assert len({*places}) == len({*races})
