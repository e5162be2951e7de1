"""What waits, and what ends the wait: a notification is lost where the standard lets it be lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_answers import kinds

CXX = """#include <atomic>
#include <cassert>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>
std::atomic<int> x;
std::atomic<char> turn;
std::atomic_flag flag;
std::mutex mutex;
std::condition_variable changed;
std::condition_variable_any any;
std::counting_semaphore<> semaphore(0);
std::latch latch(2);
bool ready, other;
int main() {
  std::thread one([] { ONE });
  std::thread two([] { TWO });
  OTHERS
  one.join();
  two.join();
}
"""

C = """#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static atomic_int x;
static int ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static struct timespec soon;
static long futex(int operation, int value, void *time) {
  return syscall(SYS_futex, &x, operation, value, time, 0, 0);
}
static void *one(void *unused) { ONE return 0; }
static void *two(void *unused) { TWO return 0; }
int main(void) {
  pthread_t first, second;
  sem_init(&semaphore, 0, 0);
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  OTHERS
  pthread_join(first, 0);
  pthread_join(second, 0);
}
"""


def woken(folder: Path, name: str, parts: tuple[str, ...], model: str) -> str:
    """What exploring the template with these threads finds."""
    text = C if name.endswith(".c") else CXX
    for part, code in zip(("ONE", "TWO", "OTHERS"), (*parts, ""), strict=False):
        text = text.replace(part, code)
    return kinds(folder / name, text, model)


WAIT = "x.wait(0, std::memory_order_relaxed);"
ATOMIC = [
    ("a_notified_wait_ends", ("x = 1; x.notify_one();", WAIT), "Safe"),
    ("a_missing_notify_is_a_hang", ("x = 1;", WAIT), "hang"),
    ("a_notify_before_the_store_is_lost", ("x.notify_one(); x = 1;", WAIT), "hang"),
    (
        "a_relaxed_store_before_its_notify_is_seen",
        ("x.store(1, std::memory_order_relaxed); x.notify_one();", WAIT),
        "Safe",
    ),
    ("a_value_that_differs_needs_no_notify", ("", "x.wait(1);"), "Safe"),
    (
        "notify_one_leaves_one_of_two_waiting",
        ("x = 1; x.notify_one();", WAIT, "x.wait(0);"),
        "hang",
    ),
    ("notify_all_wakes_both", ("x = 1; x.notify_all();", WAIT, "x.wait(0);"), "Safe"),
    (
        "notify_one_wakes_the_wrong_waiter",
        (
            "while (turn.load() != 1) turn.wait(0);",
            "for (char now; (now = turn.load()) != 2;) turn.wait(now);",
            "turn = 2; turn.notify_one();",
        ),
        "hang",
    ),
    ("a_notify_of_another_object_wakes_nobody", ("x = 1; turn.notify_all();", WAIT), "hang"),
    (
        "a_notification_orders_nothing",
        (
            "ready = true; x.store(1, std::memory_order_relaxed); x.notify_all();",
            WAIT + "other = ready;",
        ),
        "race",
    ),
    (
        "a_value_that_returns_may_be_missed",
        ("x = 1; x.notify_one(); x = 0; x.notify_one();", WAIT),
        "hang",
    ),
    (
        "a_flag_is_waited_for",
        ("flag.test_and_set(); flag.notify_one();", "flag.wait(false);"),
        "Safe",
    ),
    ("a_flag_is_not_notified", ("flag.test_and_set();", "flag.wait(false);"), "hang"),
    ("a_release_is_kept", ("semaphore.release();", "semaphore.acquire();"), "Safe"),
    (
        "a_release_is_missing",
        ("semaphore.release();", "semaphore.acquire(); semaphore.acquire();"),
        "hang",
    ),
    ("a_latch_opens", ("latch.count_down();", "latch.arrive_and_wait();"), "Safe"),
    ("a_latch_stays_closed", ("", "latch.arrive_and_wait();"), "hang"),
]

LOCKED = "std::unique_lock lock(mutex); "
SET = "{ std::lock_guard lock(mutex); ready = true; } "
CONDITION = [
    (
        "a_wait_in_a_loop",
        (SET + "changed.notify_one();", LOCKED + "while (!ready) changed.wait(lock);"),
        "Safe",
    ),
    (
        "a_wait_without_a_loop",
        (SET + "changed.notify_one();", LOCKED + "if (!ready) changed.wait(lock); assert(ready);"),
        "assertion",
    ),
    ("no_signal", (SET, LOCKED + "while (!ready) changed.wait(lock);"), "hang"),
    (
        "a_wake_up_for_no_reason_does_not_end_a_hang",
        (SET, LOCKED + "if (!ready) changed.wait(lock);"),
        "hang",
    ),
    (
        "the_flag_is_set_outside_the_mutex",
        ("x = 1; changed.notify_one();", LOCKED + "while (!x) changed.wait(lock);"),
        "hang",
    ),
    (
        "two_kinds_of_waiters_on_one_condition_variable",
        (
            LOCKED + "while (!ready) changed.wait(lock);",
            LOCKED + "while (!other) changed.wait(lock); ready = true; changed.notify_one();",
            "{ std::lock_guard lock(mutex); other = true; } changed.notify_one();",
        ),
        "hang",
    ),
    (
        "a_broadcast_for_two_kinds_of_waiters",
        (
            LOCKED + "while (!ready) changed.wait(lock);",
            LOCKED + "while (!other) changed.wait(lock); ready = true; changed.notify_all();",
            "{ std::lock_guard lock(mutex); other = true; } changed.notify_all();",
        ),
        "Safe",
    ),
    (
        "any_lock",
        (SET + "any.notify_one();", LOCKED + "any.wait(lock, [] { return ready; });"),
        "Safe",
    ),
    ("any_lock_without_a_signal", (SET, LOCKED + "any.wait(lock, [] { return ready; });"), "hang"),
]

FUTEX = [
    (
        "a_wake_after_the_store",
        ("x = 1; futex(FUTEX_WAKE, 1, 0);", "while (!x) futex(FUTEX_WAIT, 0, 0);"),
        "Safe",
    ),
    (
        "a_wake_before_the_store",
        ("futex(FUTEX_WAKE, 1, 0); x = 1;", "while (!x) futex(FUTEX_WAIT, 0, 0);"),
        "hang",
    ),
    (
        "a_wait_without_a_loop",
        ("x = 1; futex(FUTEX_WAKE, 1, 0);", "if (!x) futex(FUTEX_WAIT, 0, 0); assert(x);"),
        "assertion",
    ),
    ("the_value_is_compared", ("x = 1;", "futex(FUTEX_WAIT, 1, 0);"), "hang"),
    (
        "another_value_is_not_waited_for",
        ("", "assert(futex(FUTEX_WAIT, 1, 0) == -1 && errno == EAGAIN);"),
        "Safe",
    ),
    (
        "a_wait_for_some_time_ends",
        ("", "long ended = futex(FUTEX_WAIT, 0, &soon); assert(!ended || errno == ETIMEDOUT);"),
        "Safe",
    ),
    (
        "a_wake_orders_nothing",
        (
            "ready = 1; atomic_store_explicit(&x, 1, memory_order_relaxed); "
            "futex(FUTEX_WAKE, 1, 0);",
            "while (!atomic_load_explicit(&x, memory_order_relaxed)) futex(FUTEX_WAIT, 0, 0); "
            "ready = 2;",
        ),
        "race",
    ),
    (
        "a_condition_variable_wakes_for_no_reason",
        (
            "pthread_mutex_lock(&mutex); ready = 1; pthread_mutex_unlock(&mutex); "
            "pthread_cond_signal(&changed);",
            "pthread_mutex_lock(&mutex); if (!ready) pthread_cond_wait(&changed, &mutex); "
            "assert(ready); pthread_mutex_unlock(&mutex);",
        ),
        "assertion",
    ),
    (
        "a_timed_wait_needs_no_signal",
        (
            "",
            "pthread_mutex_lock(&mutex); while (!ready) "
            "if (pthread_cond_timedwait(&changed, &mutex, &soon) == ETIMEDOUT) break; "
            "pthread_mutex_unlock(&mutex);",
        ),
        "Safe",
    ),
    (
        "a_timed_wait_takes_the_signal_of_another_thread",
        (
            "pthread_mutex_lock(&mutex); while (!ready) pthread_cond_wait(&changed, &mutex); "
            "pthread_mutex_unlock(&mutex);",
            "pthread_mutex_lock(&mutex); pthread_cond_timedwait(&changed, &mutex, &soon); "
            "pthread_mutex_unlock(&mutex);",
            "pthread_mutex_lock(&mutex); ready = 1; pthread_cond_signal(&changed); "
            "pthread_mutex_unlock(&mutex);",
        ),
        "hang",
    ),
    ("a_post_is_kept", ("sem_post(&semaphore);", "sem_wait(&semaphore);"), "Safe"),
    ("a_post_is_missing", ("", "sem_wait(&semaphore);"), "hang"),
]


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [(f"{name}.cpp", *rest) for name, *rest in ATOMIC + CONDITION]
    + [(f"{name}.c", *rest) for name, *rest in FUTEX],
)
def test_a_wait_ends_exactly_where_it_must(
    tmp_path: Path, name: str, parts: tuple[str, ...], expected: str
) -> None:
    assert woken(tmp_path, name, parts, "rc20") == expected


@pytest.mark.parametrize("model", ["sc", "tso", "power", "imm"])
@pytest.mark.parametrize("parts", [ATOMIC[0], ATOMIC[1], ATOMIC[3]], ids=lambda each: each[0])
def test_models_of_machines_lose_no_notification_either(
    tmp_path: Path, model: str, parts: tuple[str, tuple[str, ...], str]
) -> None:
    name, threads, expected = parts
    assert woken(tmp_path, f"{name}.cpp", threads, model) == expected
