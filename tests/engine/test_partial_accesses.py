"""Plain loads of a part of what is accessed atomically: bytes and fields of it, and of 16 bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_programs import explored, kinds, program

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


def test_a_half_of_sixteen_bytes_may_be_uninitialised(tmp_path: Path) -> None:
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
        h->top = 0; // and tag is compared uninitialised
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, writes, 0);
        for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
        assert(h->tag == 1 && h->top == 1);
        return 0;
    }
    """
    found = explored(program(tmp_path, text), "rc20")
    assert kinds(found) == set()
    assert found["complete"] == 2
