"""Barriers, C11 condition variables, stop tokens and other primitives: right and wrong uses, and
the lines that a hang names."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds

CXX = """#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
using namespace std::chrono_literals;
std::atomic<int> x;
int plain;
std::barrier barrier(2);
std::binary_semaphore token(0);
std::mutex mutex;
std::condition_variable_any any;
std::atomic<bool> seen;
std::stop_source stops;
bool ready;
int main() {
  std::thread one([] { ONE });
  std::thread two([] { TWO });
  one.join();
  two.join();
}
"""
C = """#include <assert.h>
#include <pthread.h>
#include <threads.h>
static mtx_t mutex;
static cnd_t changed;
static pthread_barrier_t barrier;
static int ready, other;
static int one(void *unused) { ONE return 0; }
static int two(void *unused) { TWO return 0; }
int main(void) {
  thrd_t first, second;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&changed);
  pthread_barrier_init(&barrier, 0, 2);
  thrd_create(&first, one, 0);
  thrd_create(&second, two, 0);
  thrd_join(first, 0);
  thrd_join(second, 0);
}
"""
SET = "mtx_lock(&mutex); ready = 1; mtx_unlock(&mutex); "
LOCKED = "std::unique_lock lock(mutex); "
CASES = [
    (
        "barrier.cpp",
        ("plain = 1; barrier.arrive_and_wait();", "barrier.arrive_and_wait(); assert(plain);"),
        "Safe",
    ),
    ("barrier_alone.cpp", ("barrier.arrive_and_wait();", ""), "hang"),
    (
        "barrier_twice.cpp",
        ("barrier.arrive_and_wait(); barrier.arrive_and_wait();", "barrier.arrive_and_wait();"),
        "hang",
    ),
    (
        "barrier_dropped.cpp",
        (
            "barrier.arrive_and_wait(); barrier.arrive_and_wait();",
            "barrier.arrive_and_wait(); barrier.arrive_and_drop();",
        ),
        "Safe",
    ),
    ("token.cpp", ("plain = 1; token.release();", "token.acquire(); assert(plain);"), "Safe"),
    ("token_missing.cpp", ("", "token.acquire();"), "hang"),
    ("token_for_some_time.cpp", ("", "assert(!token.try_acquire_for(1ms));"), "Safe"),
    (
        "reference.cpp",
        (
            "std::atomic_ref<int>(plain).store(1); std::atomic_ref<int>(plain).notify_one();",
            "std::atomic_ref<int>(plain).wait(0);",
        ),
        "Safe",
    ),
    (
        "reference_missing.cpp",
        ("std::atomic_ref<int>(plain).store(1);", "std::atomic_ref<int>(plain).wait(0);"),
        "hang",
    ),
    ("free.cpp", ("x = 1; std::atomic_notify_one(&x);", "std::atomic_wait(&x, 0);"), "Safe"),
    ("free_missing.cpp", ("x = 1;", "std::atomic_wait(&x, 0);"), "hang"),
    (
        "any_stopped.cpp",
        (
            "stops.request_stop();",
            LOCKED + "any.wait(lock, stops.get_token(), [] { return ready; });",
        ),
        "Safe",
    ),
    (
        "any_not_stopped.cpp",
        ("", LOCKED + "any.wait(lock, stops.get_token(), [] { return ready; });"),
        "hang",
    ),
    (
        "cnd.c",
        (
            SET + "cnd_signal(&changed);",
            "mtx_lock(&mutex); while (!ready) cnd_wait(&changed, &mutex); mtx_unlock(&mutex);",
        ),
        "Safe",
    ),
    (
        "cnd_missing.c",
        (SET, "mtx_lock(&mutex); while (!ready) cnd_wait(&changed, &mutex); mtx_unlock(&mutex);"),
        "hang",
    ),
    (
        "cnd_early.c",
        (
            "cnd_signal(&changed); " + SET,
            "mtx_lock(&mutex); while (!ready) cnd_wait(&changed, &mutex); mtx_unlock(&mutex);",
        ),
        "hang",
    ),
    (
        "cnd_without_a_loop.c",
        (
            SET + "cnd_signal(&changed);",
            "mtx_lock(&mutex); if (!ready) cnd_wait(&changed, &mutex); assert(ready); "
            "mtx_unlock(&mutex);",
        ),
        "assertion",
    ),
    (
        "pthread_barrier.c",
        (
            "ready = 1; pthread_barrier_wait(&barrier);",
            "pthread_barrier_wait(&barrier); assert(ready);",
        ),
        "Safe",
    ),
    ("pthread_barrier_alone.c", ("pthread_barrier_wait(&barrier);", ""), "hang"),
]


def explored(folder: Path, name: str, parts: tuple[str, str]) -> dict[str, set[int]]:
    """The kinds of violations, with the lines at which threads wait."""
    text = C if name.endswith(".c") else CXX
    for part, code in zip(("ONE", "TWO"), parts, strict=True):
        text = text.replace(part, code)
    path = folder / name
    path.write_text(text)
    program = read_program(path)
    found = asked(program, models.resolve("rc20"), Bounds())
    assert not found["reasons"], found["reasons"]
    return {
        each["kind"]: {program.sites[wait["site"]].line for wait in each["witness"]["waits"]}
        for each in found["violations"]
    }


@pytest.mark.parametrize(
    ("name", "parts", "expected"), [pytest.param(*each, id=each[0]) for each in CASES]
)
def test_a_wait_ends_exactly_where_it_must(
    tmp_path: Path, name: str, parts: tuple[str, str], expected: str
) -> None:
    found = explored(tmp_path, name, parts)
    assert (", ".join(sorted(found)) or "Safe") == expected
    if expected == "hang":
        text = (tmp_path / name).read_text().splitlines()
        waits = ("wait(", "acquire(", "arrive_and_wait", "wait(&")
        lines = {
            line for line, code in enumerate(text, start=1) if any(map(code.__contains__, waits))
        }
        assert found["hang"] & lines, found
