"""What runs when a process ends: exit handlers, and destructors of static objects (C11, 7.22.4;
C++20, [basic.start.term])."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from weakspot import _engine
from weakspot.generators.source.frontend import compile_source

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

MODELS = Path(__file__).parents[2] / "models"

C = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
"""
CXX = """
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
"""


def lowered(folder: Path, text: str, name: str) -> _engine.Program:
    path = folder / name
    path.write_text(text)
    return _engine.Program(compile_source(path).text)


def explored(folder: Path, text: str, name: str = "program.c") -> ExplorationDict:
    program = lowered(folder, (CXX if name.endswith("cpp") else C) + text, name)
    path = str(MODELS / "rc20.cat")
    return program.explore(path, folders=[str(MODELS)], acyclic="program order")


def violations(folder: Path, text: str, name: str = "program.c") -> dict[str, str]:
    """The first message of each kind."""
    found = explored(folder, text, name)
    assert found["result"] in {"Safe", "Violated"}
    return {each["kind"]: each["message"] for each in reversed(found["violations"])}


ORDER = """
static int n;
static void late(void) { assert(n == 1); n = 2; }
static void third(void) { assert(n == 0); n = 1; atexit(late); }
static void second(void) { assert(n == 2); n = 3; }
static void first(void) { assert(n == 3); n = 4; }
__attribute__((destructor(200))) static void last(void) { assert(n == 5); assert(HOLDS); }
__attribute__((destructor(300))) static void last_but_one(void) { assert(n == 4); n = 5; }
static void leave(void) { exit(0); }
int main(void) { atexit(first); atexit(second); atexit(third); END }
"""


@pytest.mark.parametrize("end", ["return 0;", "exit(0);", "leave(); assert(0);"])
def test_handlers_run_in_the_reverse_order_of_their_registration(tmp_path: Path, end: str) -> None:
    text = ORDER.replace("END", end)
    assert violations(tmp_path, text.replace("HOLDS", "1")) == {}
    failing = violations(tmp_path, text.replace("HOLDS", "0"))
    assert failing == {"assertion": "assertion failed: 0"}


def test_an_interleaving_ends_with_the_handlers(tmp_path: Path) -> None:
    text = C + ORDER.replace("END", "return 0;")
    safe = lowered(tmp_path, text.replace("HOLDS", "1"), "safe.c").trace()
    assert [run["outcome"] for run in safe["runs"]] == ["complete"]
    failing = lowered(tmp_path, text.replace("HOLDS", "0"), "failing.c").trace()
    assert [run["outcome"] for run in failing["runs"]] == ["assertion"]


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("return 0;", "normal"),
        ("exit(0);", "normal"),
        ("quick_exit(0);", "quick"),
        ("_Exit(0);", None),
        ("_exit(0);", None),
        ("abort();", "abort"),
    ],
)
def test_each_function_that_ends_the_process_runs_its_own_handlers(
    tmp_path: Path, end: str, message: str | None
) -> None:
    text = """
    static void normal(void) { assert(!"normal"); }
    static void quick(void) { assert(!"quick"); }
    int main(void) { atexit(normal); at_quick_exit(quick); END }
    """
    found = violations(tmp_path, text.replace("END", end))
    assert list(found) == (["assertion"] if message else [])
    assert (message or "") in found.get("assertion", "")


def test_other_threads_continue_while_handlers_run(tmp_path: Path) -> None:
    text = """
    static atomic_int stop, stopped;
    static pthread_t thread;
    static void *run(void *p) { while (!stop) { } stopped = 1; return 0; }
    static void ends(void) { STOP; pthread_join(thread, 0); assert(stopped); }
    int main(void) { pthread_create(&thread, 0, run, 0); atexit(ends); return 0; }
    """
    assert violations(tmp_path, text.replace("STOP", "stop = 1")) == {}
    assert "hang" in violations(tmp_path, text.replace("STOP", ""))


def test_threads_may_register_handlers_together(tmp_path: Path) -> None:
    text = """
    static int sum;
    static void one(void) { sum += 1; }
    static void two(void) { sum += 2; }
    __attribute__((destructor)) static void last(void) { assert(sum == 3); }
    static void *run(void *p) { atexit(one); return 0; }
    int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, run, 0);
        atexit(two);
        pthread_join(thread, 0);
        return 0;
    }
    """
    assert violations(tmp_path, text) == {}


def test_handlers_that_main_registers_cost_no_executions(tmp_path: Path) -> None:
    text = """
    static atomic_int x;
    static void *run(void *p) { x = 1; return 0; }
    static void nothing(void) { }
    int main(void) {
        pthread_t thread;
        HANDLER
        pthread_create(&thread, 0, run, 0);
        atomic_fetch_add(&x, 1);
        pthread_join(thread, 0);
        return 0;
    }
    """
    without = explored(tmp_path, text.replace("HANDLER", ""))
    handled = explored(tmp_path, text.replace("HANDLER", "atexit(nothing);"))
    assert without["complete"] == handled["complete"] == 2


def test_pthread_exit_in_main_is_refused_where_handlers_would_follow(tmp_path: Path) -> None:
    text = "static void f(void) { } int main(void) { HANDLER pthread_exit(0); }"
    assert violations(tmp_path, text.replace("HANDLER", "")) == {}
    with pytest.raises(_engine.EngineError, match="pthread_exit in main is not supported"):
        explored(tmp_path, text.replace("HANDLER", "atexit(f);"))


OWN = """
struct Object {
    int before;
    Object(int before) : before(before) {}
    ~Object();
};
int destroyed;
Object::~Object() { assert(destroyed == before); destroyed++; }
Object first(OTHERWISE3), second(2);
Object &local() { static Object made(1); return made; }
int main() { thread_local Object own(0); (void)own; local(); END }
"""


@pytest.mark.parametrize("end", ["return 0;", "std::exit(0);"])
def test_static_objects_are_destroyed_after_those_of_the_thread(tmp_path: Path, end: str) -> None:
    text = OWN.replace("END", end)
    assert violations(tmp_path, text.replace("OTHERWISE", ""), "program.cpp") == {}
    assert "assertion" in violations(tmp_path, text.replace("OTHERWISE", "1 + "), "program.cpp")


POOL = """
struct Pool {
    std::mutex mutex;
    std::condition_variable changed;
    bool stop = false;
    std::thread thread;
    Pool() : thread([this] {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return stop; });
    }) {}
    ~Pool() {
        { std::lock_guard<std::mutex> lock(mutex); stop = true; }
        changed.notify_all();
        thread.join();
    }
    static Pool &get() { static Pool pool; return pool; }
};
int main() { Pool::get(); }
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("std::thread t; int main() { t = std::thread([] {}); }", {"assertion"}),
        (
            "struct Pool { int *data = new int(1); ~Pool() { delete data; } } pool;"
            "int main() { std::thread([] { volatile int x = *pool.data; (void)x; }).detach(); }",
            {"memory"},
        ),
        (
            "std::jthread t; std::unique_ptr<int> p = std::make_unique<int>(1);"
            "int main() { t = std::jthread([] { volatile int x = *p; (void)x; }); }",
            {"race", "memory"},
        ),
        (
            "std::unique_ptr<int> p = std::make_unique<int>(1); std::jthread t;"
            "int main() { t = std::jthread([] { volatile int x = *p; (void)x; }); }",
            set(),
        ),
        (
            "std::jthread t; int main() { t = std::jthread([](std::stop_token s) {"
            "while (!s.stop_requested()) {} }); }",
            set(),
        ),
        (POOL, set()),
        (POOL.replace("stop = true;", ""), {"hang"}),
    ],
    ids=["joinable", "freed", "destroyed", "joined", "stopped", "pool", "pool that does not stop"],
)
def test_static_objects_are_destroyed_when_main_returns(
    tmp_path: Path, text: str, found: set[str]
) -> None:
    assert set(violations(tmp_path, text, "program.cpp")) == found
