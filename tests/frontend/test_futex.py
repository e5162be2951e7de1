"""Futexes with masks, FUTEX_WAKE_OP, FUTEX_REQUEUE, and what users build of futexes."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_answers import kinds

from weakspot.errors import Unsupported

HEAD = """
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static atomic_int x, y;
static long futex(atomic_int *word, int operation, int value, long other, atomic_int *second,
                  unsigned mask) {
  return syscall(SYS_futex, word, operation, value, other, second, mask);
}
static void await(unsigned mask) {
  while (!x) futex(&x, FUTEX_WAIT_BITSET, 0, 0, 0, mask);
}
static void wake(unsigned mask, int count) { futex(&x, FUTEX_WAKE_BITSET, count, 0, 0, mask); }
static int look(atomic_int *word) { return atomic_load_explicit(word, memory_order_relaxed); }
"""
TAIL = """
static void *one(void *unused) { ONE return 0; }
static void *two(void *unused) { TWO return 0; }
static void *three(void *unused) { THREE return 0; }
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, one, 0);
  pthread_create(&threads[1], 0, two, 0);
  if (HAS_THREE) pthread_create(&threads[2], 0, three, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  if (HAS_THREE) pthread_join(threads[2], 0);
}
"""


def woken(folder: Path, one: str, two: str, three: str = "") -> str:
    given = (("ONE", one), ("TWO", two), ("THREE", three), ("HAS_THREE", str(int(bool(three)))))
    defines = "".join(f"#define {name} {text}\n" for name, text in given)
    return kinds(folder / "futex.c", HEAD + defines + TAIL)


MASKS = [
    ("a_wake_reaches_its_mask", ("x = 1; wake(2, 1);", "await(2);"), "Safe"),
    ("a_wake_with_another_mask_is_lost", ("x = 1; wake(1, 1);", "await(2);"), "hang"),
    ("masks_that_share_a_bit_meet", ("x = 1; wake(3, 1);", "await(6);"), "Safe"),
    ("a_mask_of_all_bits_reaches_all", ("x = 1; wake(-1u, 1);", "await(4);"), "Safe"),
    ("a_waiter_with_all_bits_is_reached", ("x = 1; wake(1u << 20, 1);", "await(-1u);"), "Safe"),
    ("futex_wake_has_all_bits", ("x = 1; futex(&x, FUTEX_WAKE, 1, 0, 0, 0);", "await(4);"), "Safe"),
    (
        "a_wake_of_one_is_not_taken_by_another_mask",
        ("x = 1; wake(1, 1); wake(2, 1);", "await(1);", "await(2);"),
        "Safe",
    ),
    ("one_wake_for_two_masks_wakes_one", ("x = 1; wake(3, 1);", "await(1);", "await(2);"), "hang"),
    (
        "a_mask_without_bits_is_an_error",
        ("assert(futex(&x, FUTEX_WAKE_BITSET, 1, 0, 0, 0) == -1 && errno == EINVAL);", ""),
        "Safe",
    ),
]
WAKE_OP = [
    (
        "it_changes_the_second_word_and_wakes_at_both",
        (
            "x = 1; futex(&x, FUTEX_WAKE_OP, 1, 1, &y, "
            "FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0));",
            "while (!x) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);",
            "while (!y) futex(&y, FUTEX_WAIT, 0, 0, 0, 0);",
        ),
        "Safe",
    ),
    (
        "it_wakes_at_the_second_word_only_if_that_compares",
        (
            "x = 1; futex(&x, FUTEX_WAKE_OP, 1, 1, &y, "
            "FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GT, 0));",
            "while (!x) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);",
            "while (!y) futex(&y, FUTEX_WAIT, 0, 0, 0, 0);",
        ),
        "hang",
    ),
    (
        "its_operands_are_signed_and_may_be_shifts",
        (
            "y = 5; futex(&x, FUTEX_WAKE_OP, 1, 1, &y, "
            "FUTEX_OP(FUTEX_OP_ADD, -2, FUTEX_OP_CMP_LT, -1)); assert(y == 3); "
            "futex(&x, FUTEX_WAKE_OP, 1, 1, &y, FUTEX_OP(FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT, 4, "
            "FUTEX_OP_CMP_LT, 0)); assert(y == 19);",
            "",
        ),
        "Safe",
    ),
]
WAITS = "while (!x) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);"
REQUEUE = [
    (
        "a_moved_thread_is_woken_at_the_other_word",
        ("x = 1; futex(&x, FUTEX_REQUEUE, 0, 1, &y, 0); futex(&y, FUTEX_WAKE, 1, 0, 0, 0);", WAITS),
        "Safe",
    ),
    (
        "a_moved_thread_is_not_woken_at_its_own_word",
        ("x = 1; futex(&x, FUTEX_REQUEUE, 0, 1, &y, 0); futex(&x, FUTEX_WAKE, 9, 0, 0, 0);", WAITS),
        "hang",
    ),
    (
        "one_is_woken_and_the_other_moved",
        (
            "x = 1; futex(&x, FUTEX_CMP_REQUEUE, 1, INT_MAX, &y, 1); "
            "futex(&y, FUTEX_WAKE, 1, 0, 0, 0);",
            WAITS,
            WAITS,
        ),
        "Safe",
    ),
    (
        "the_moved_thread_is_forgotten",
        ("x = 1; futex(&x, FUTEX_CMP_REQUEUE, 1, INT_MAX, &y, 1);", WAITS, WAITS),
        "hang",
    ),
    (
        "another_value_moves_nobody",
        ("x = 1; assert(futex(&x, FUTEX_CMP_REQUEUE, 1, 1, &y, 7) == -1 && errno == EAGAIN);", ""),
        "Safe",
    ),
    (
        "a_moved_thread_may_be_late",
        (
            "x = 1; futex(&x, FUTEX_REQUEUE, 0, 1, &y, 0);",
            "struct timespec soon = {0, 1}; if (!x) futex(&x, FUTEX_WAIT, 0, (long)&soon, 0, 0);",
        ),
        "Safe",
    ),
]
# parking, as thread parkers of standard libraries do: 1 has a token, -1 is parked
PARK = (
    "int now = 0; if (atomic_fetch_sub(&x, 1) != 1) "
    "do { futex(&x, FUTEX_WAIT, -1, 0, 0, 0); now = 1; } "
    "while (!atomic_compare_exchange_strong(&x, &now, 0));"
)
UNPARK = "if (atomic_exchange(&x, 1) == -1) futex(&x, FUTEX_WAKE, 1, 0, 0, 0);"
# an eventcount: x is the epoch, y the condition
PREPARE = "while (!look(&y)) { int epoch = x; atomic_thread_fence(memory_order_seq_cst); "
COMMIT = "if (!look(&y)) futex(&x, FUTEX_WAIT, epoch, 0, 0, 0); }"
# y says that a thread waits
COUNTED = (
    "atomic_store_explicit(&y, 1, memory_order_relaxed); "
    "while (!look(&x)) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);"
)
WAKES_IF = "if ({}) futex(&x, FUTEX_WAKE, 1, 0, 0, 0);"
IDIOMS = [
    ("park_and_unpark", (UNPARK, PARK), "Safe"),
    ("nobody_unparks", ("", PARK), "hang"),
    ("an_unpark_without_a_wake", ("atomic_exchange(&x, 1);", PARK), "hang"),
    (
        "an_eventcount",
        (
            "y = 1; atomic_fetch_add(&x, 1); futex(&x, FUTEX_WAKE, INT_MAX, 0, 0, 0);",
            PREPARE + COMMIT,
        ),
        "Safe",
    ),
    (
        "an_eventcount_whose_epoch_stays",
        ("y = 1; futex(&x, FUTEX_WAKE, INT_MAX, 0, 0, 0);", PREPARE + COMMIT),
        "hang",
    ),
    (
        "an_eventcount_that_is_advanced_too_early",
        (
            "atomic_fetch_add(&x, 1); futex(&x, FUTEX_WAKE, INT_MAX, 0, 0, 0); y = 1;",
            PREPARE + COMMIT,
        ),
        "hang",
    ),
    (
        "an_event_counter_with_values",
        (
            "x = 1; futex(&x, FUTEX_WAKE, 1, 0, 0, 0);",
            "int had; while (!(had = atomic_exchange(&x, 0))) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);",
        ),
        "Safe",
    ),
    (
        "two_readers_of_an_event_counter",
        (
            "x = 1; futex(&x, FUTEX_WAKE, 1, 0, 0, 0);",
            "while (!atomic_exchange(&x, 0)) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);",
            "while (!atomic_exchange(&x, 0)) futex(&x, FUTEX_WAIT, 0, 0, 0, 0);",
        ),
        "hang",
    ),
    # the wait has the barrier between the count and the comparison; what wakes has its own
    ("a_waiter_that_has_counted_itself", ("x = 1; " + WAKES_IF.format("y"), COUNTED), "Safe"),
    (
        "a_waker_that_looks_at_the_count_too_early",
        ("x = 1; " + WAKES_IF.format("look(&y)"), COUNTED),
        "hang",
    ),
]


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        pytest.param(threads, expected, id=name)
        for name, threads, expected in (*MASKS, *WAKE_OP, *REQUEUE, *IDIOMS)
    ],
)
def test_a_futex_wakes_exactly_whom_it_must(
    tmp_path: Path, threads: tuple[str, ...], expected: str
) -> None:
    assert woken(tmp_path, *threads) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("await(8);", "a futex mask with other bits than 1, 2 and 4, and not all"),
        ("futex(&x, FUTEX_LOCK_PI, 0, 0, 0, 0);", "this operation of futex is not modelled"),
    ],
)
def test_what_is_not_modelled_is_refused_at_its_line(
    tmp_path: Path, call: str, message: str
) -> None:
    with pytest.raises(Unsupported, match=message) as error:
        woken(tmp_path, call, "x = 1;")
    assert (error.value.place or "").startswith(f"{tmp_path}/futex.c:")
