"""Plain loads of a part of what is accessed atomically: bytes and fields of it, and of 16 bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_programs import explored, kinds, program

from weakspot._engine import EngineError

PAYLOAD = """
static unsigned char payload[8];
static atomic_int ready;
static void *writes(void *p) {
    unsigned *words = (unsigned *)payload;
    __atomic_store_n(&words[0], 0x04030201, __ATOMIC_RELAXED);
    __atomic_store_n(&words[1], 0x08070605, __ATOMIC_RELAXED);
    atomic_store_explicit(&ready, 1, memory_order_ORDER);
    return 0;
}
static void *reads(void *p) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(payload[0] == 1 && payload[LAST] == 8);
    return 0;
}
"""


@pytest.mark.parametrize("model", ["rc20", "tso", "sc"])
@pytest.mark.parametrize(
    ("order", "last", "found"),
    [("release", 7, set()), ("release", 6, {"assertion"}), ("relaxed", 7, {"assertion", "race"})],
)
def test_a_byte_of_an_atomic_word_is_read(
    tmp_path: Path, model: str, order: str, last: int, found: set[str]
) -> None:
    text = PAYLOAD.replace("ORDER", order).replace("LAST", str(last))
    answer = explored(program(tmp_path, text, "writes", "reads"), model)
    if model != "rc20" and order == "relaxed":
        found = set()  # it has no races, and these stores are in order
    assert kinds(answer) == found


HALVES = """
typedef unsigned __int128 pair;
static pair head;
static void *adds(void *p) {
    pair old = 0;
    while (!__sync_bool_compare_and_swap(&head, old, old + ((pair)1 << 64) + 3))
        old = __sync_val_compare_and_swap(&head, 0, 0);
    return 0;
}
"""


@pytest.mark.parametrize(("tag", "found"), [(2, set()), (1, {"assertion"})])
def test_halves_of_sixteen_bytes_are_read_when_all_threads_have_ended(
    tmp_path: Path, tag: int, found: set[str]
) -> None:
    after = f"assert((unsigned long)head == 6 && (unsigned long)(head >> 64) == {tag});"
    answer = explored(program(tmp_path, HALVES, "adds", "adds", after=after), "rc20")
    assert kinds(answer) == found


def test_a_half_of_sixteen_bytes_that_may_be_uninitialised_is_refused(tmp_path: Path) -> None:
    text = """
    typedef struct { unsigned long top, tag; } __attribute__((aligned(16))) head;
    static head *h;
    static void *writes(void *p) {
        head old = {0, 0}, new = {1, 1};
        __atomic_compare_exchange(h, &old, &new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return 0;
    }
    int main(void) {
        pthread_t t[2];
        h = aligned_alloc(16, sizeof(head));
        h->top = 0;
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, writes, 0);
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
        return (int)h->tag;
    }
    """
    with pytest.raises(EngineError, match="in static objects only"):
        explored(program(tmp_path, text), "rc20")


def test_halves_are_loaded_atomically_where_the_model_has_no_races(tmp_path: Path) -> None:
    text = """
    typedef struct { unsigned long top, tag; } __attribute__((aligned(16))) head;
    static head h;
    static void *writes(void *p) {
        head old = {0, 0}, new = {1, 1};
        __atomic_compare_exchange(&h, &old, &new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return 0;
    }
    static void *reads(void *p) {
        unsigned long first = __atomic_load_n(&h.FIRST, __ATOMIC_ACQUIRE);
        unsigned long second = __atomic_load_n(&h.SECOND, __ATOMIC_ACQUIRE);
        assert(first <= second);
        assert(first == second);
        return 0;
    }
    """
    text = text.replace("FIRST", "tag").replace("SECOND", "top")
    answer = explored(program(tmp_path, text, "writes", "reads"), "tso")
    messages = {violation["message"] for violation in answer["violations"]}
    assert len(messages) == 1
    assert "first == second" in messages.pop()
    with pytest.raises(EngineError, match="atomically with other sizes"):
        explored(program(tmp_path, text, "writes", "reads"), "rc20")


@pytest.mark.parametrize(
    ("access", "message"),
    [
        ("u.half[1] = 1", "a plain write to a part of memory that is also accessed atomically"),
        ("__atomic_store_n(&u.half[1], 1, __ATOMIC_RELAXED)", "atomically with other sizes"),
        ("__atomic_load_n(&u.half[1], __ATOMIC_RELAXED)", "atomically with other sizes"),
    ],
)
def test_other_accesses_of_a_part_are_refused_at_their_place(
    tmp_path: Path, access: str, message: str
) -> None:
    text = f"""
    static union {{ unsigned whole; unsigned short half[2]; }} u;
    static void *one(void *p) {{ __atomic_store_n(&u.whole, 1, __ATOMIC_RELAXED); return 0; }}
    static void *two(void *p) {{ {access}; return 0; }}
    """
    with pytest.raises(EngineError) as caught:
        explored(program(tmp_path, text, "one", "two"), "rc20")
    assert message in caught.value.problem["message"]
    assert caught.value.problem["line"] > 0
