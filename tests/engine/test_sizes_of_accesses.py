"""Atomic accesses of several sizes that overlap: each is one access, and each part of memory has a
coherence order of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_programs import explored, kinds, program

from weakspot._engine import EngineError
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Part

WORD = """
#include <stdint.h>
typedef union { _Atomic uint64_t whole; _Atomic uint32_t half[2]; } word;
static word x;
static uint64_t seen[4];
#define READ(place, order) atomic_load_explicit(&(place), memory_order_##order)
#define WRITE(place, value, order) atomic_store_explicit(&(place), value, memory_order_##order)
#define BOTH(value) ((value) * ((1ull << 32) + 1))
"""


def found(folder: Path, model: str, wrong: str, *bodies: str) -> set[str]:
    """What is wrong with threads of these bodies, after which this must not hold."""
    threads = [
        f"static void *t{at}(void *p) {{ {body} return 0; }}" for at, body in enumerate(bodies)
    ]
    names = [f"t{at}" for at in range(len(bodies))]
    text = program(folder, WORD + "\n".join(threads), *names, after=f"assert(!({wrong}));")
    of_programs = models.load()[model].of_programs
    assert of_programs.acyclic != "none"
    path, folders = str(of_programs.path), [str(of_programs.path.parent)]
    answer = text.explore(path, folders=folders, acyclic=of_programs.acyclic, jobs=1)
    assert answer["mixed_sizes"] is not None
    return kinds(answer)


@pytest.mark.parametrize("model", ["sc", "tso", "rc11", "rc20", "imm"])
def test_an_access_is_not_torn(tmp_path: Path, model: str) -> None:
    assert not found(
        tmp_path,
        model,
        "(uint32_t)seen[0] != seen[0] >> 32",
        "WRITE(x.whole, BOTH(1), relaxed);",
        "WRITE(x.whole, BOTH(2), relaxed);",
        "if (READ(x.half[0], relaxed) < 3) seen[0] = READ(x.whole, relaxed);",
    )


@pytest.mark.parametrize(
    ("model", "allowed"), [("sc", False), ("tso", False), ("rc20", True), ("imm", True)]
)
def test_the_halves_of_a_relaxed_store_are_loaded_in_any_order(
    tmp_path: Path, model: str, allowed: bool
) -> None:
    loads = "seen[0] = READ(x.half[0], relaxed); seen[1] = READ(x.half[1], relaxed);"
    late = found(tmp_path, model, "seen[0] && !seen[1]", "WRITE(x.whole, BOTH(1), relaxed);", loads)
    assert late == ({"assertion"} if allowed else set())


@pytest.mark.parametrize("model", ["rc20", "imm", "aarch64", "riscv"])
def test_a_release_of_both_halves_synchronises_by_either(tmp_path: Path, model: str) -> None:
    loads = "seen[0] = READ(x.half[0], acquire); seen[1] = READ(x.half[1], relaxed);"
    assert not found(
        tmp_path, model, "seen[0] && !seen[1]", "WRITE(x.whole, BOTH(1), release);", loads
    )


@pytest.mark.parametrize(("model", "allowed"), [("sc", False), ("tso", True), ("rc20", True)])
def test_a_load_of_both_may_be_forwarded_half_of_it(
    tmp_path: Path, model: str, allowed: bool
) -> None:
    threads = [
        f"WRITE(x.half[{at}], 1, relaxed); seen[{at}] = READ(x.whole, relaxed);" for at in range(2)
    ]
    both = found(tmp_path, model, "seen[0] == 1 && seen[1] == 1ull << 32", *threads)
    assert both == ({"assertion"} if allowed else set())


@pytest.mark.parametrize("model", ["sc", "tso", "rc20", "imm", "aarch64"])
def test_updates_of_one_and_of_both_halves_are_lost_in_no_order(tmp_path: Path, model: str) -> None:
    assert not found(
        tmp_path,
        model,
        "READ(x.whole, relaxed) != BOTH(1) + 1",
        "atomic_fetch_add(&x.whole, 1ull << 32);",
        "atomic_fetch_add(&x.half[0], 1);",
        "uint64_t old = 0; while (!atomic_compare_exchange_weak(&x.whole, &old, old + 1)) {}",
    )


@pytest.mark.parametrize(
    ("order", "wrong"), [("release", set()), ("relaxed", {"assertion", "race"})]
)
def test_a_lock_and_its_count_are_one_word(tmp_path: Path, order: str, wrong: set[str]) -> None:
    body = f"""
        for (uint64_t old = 0; !atomic_compare_exchange_strong(&x.whole, &old, old + 1);)
            old &= ~0xffffffffull;
        seen[0]++;
        atomic_fetch_add_explicit(&x.half[1], 1, memory_order_relaxed);
        WRITE(x.half[0], 0, {order});
    """
    assert found(tmp_path, "rc20", "seen[0] != 2 || x.half[1] != 2", body, body) == wrong


def test_a_plain_store_to_a_half_is_a_store(tmp_path: Path) -> None:
    half = "*(uint32_t *)&x.half[1] = 1; WRITE(x.half[0], 1, release);"
    reads = "if (READ(x.half[0], acquire)) seen[0] = READ(x.whole, relaxed);"
    assert not found(tmp_path, "rc20", "seen[0] != 0 && seen[0] != BOTH(1)", half, reads)


@pytest.mark.parametrize(
    ("access", "what"),
    [
        ("u.half[1] = 1", "a plain store"),
        ("__atomic_store_n(&u.half[1], 1, __ATOMIC_RELAXED)", "an atomic store"),
        ("__atomic_load_n(&u.half[1], __ATOMIC_RELAXED)", "an atomic load"),
    ],
)
def test_they_are_refused_at_their_place_if_the_user_wants_that(
    tmp_path: Path, access: str, what: str
) -> None:
    text = f"""
    static union {{ unsigned whole; unsigned short half[2]; }} u;
    static void *one(void *p) {{ __atomic_store_n(&u.whole, 1, __ATOMIC_RELAXED); return 0; }}
    static void *two(void *p) {{ {access}; return 0; }}
    """
    shown = program(tmp_path, text, "one", "two")
    assert explored(shown, "rc20")["mixed_sizes"] is not None, what
    with pytest.raises(EngineError) as caught:
        explored(shown, "rc20", part=Part(mixed_sizes=False))
    assert "atomically with other sizes" in caught.value.problem["message"]
    assert caught.value.problem["line"] > 0


def test_objects_that_other_executions_allocate_instead_do_not_overlap(tmp_path: Path) -> None:
    text = """
    #include <stdlib.h>
    static atomic_int which;
    static _Atomic(atomic_long *) count;
    static _Atomic(char *) word;
    static void *one(void *p) {
        which = 1;
        if (count) atomic_fetch_add(count, 1);
        if (word) assert(word[1] == 2);
        return 0;
    }
    static void *two(void *p) {
        if (which) {
            atomic_long *made = calloc(1, sizeof *made);
            count = made;
            atomic_fetch_add(made, 1);
        } else {
            char *made = malloc(24);
            made[1] = 2;
            word = made;
        }
        return 0;
    }
    """
    answer = explored(program(tmp_path, text, "one", "two"), "rc20")
    assert (answer["result"], answer["mixed_sizes"]) == ("Safe", None)
