"""`weakspot init` writes a configuration and a scenario that compiles and is explored."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from headers import QUEUE, RING, RING_C
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

SPIN = """\
#pragma once
#include <atomic>
class SpinLock {
public:
  void lock() { while (flag.test_and_set(std::memory_order_acquire)) {} }
  void unlock() { flag.clear(std::memory_order_release); }
private:
  std::atomic_flag flag;
};
"""
STACK = """\
#pragma once
#include <atomic>
struct Stack {
  void *pop() { return top.exchange(nullptr, std::memory_order_acquire); }
  void push(void *item) { top.store(item, std::memory_order_release); }
  std::atomic<void *> top{nullptr};
};
"""
COUNTER = """\
#pragma once
#include <atomic>
struct Counter {
  void step(int by) { n.fetch_add(by, std::memory_order_relaxed); }
  int now() const { return n.load(std::memory_order_relaxed); }
  std::atomic<int> n{0};
};
"""
HEADERS = {
    "lib/queue.hpp": QUEUE,
    "spin_lock.hpp": SPIN,
    "ring.h": RING,
    "stack.hpp": STACK,
    "counter.hh": COUNTER,
}


@pytest.fixture
def project(folder: Path) -> Path:
    for name, text in HEADERS.items():
        path = folder / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "src").mkdir()
    (folder / "src" / "ring.c").write_text(RING_C)
    return folder


@pytest.mark.parametrize("header", HEADERS)
def test_the_scenario_compiles_and_is_explored(
    project: Path, run: Run, header: str, snapshot: SnapshotAssertion
) -> None:
    printed = run("init", f"include/{header}").printed(0)
    (scenario,) = (project / "tests" / "weakspot").iterdir()
    shown = [printed, (project / "weakspot.toml").read_text(), scenario.read_text()]
    assert "\n".join(shown) == snapshot
    assert run("gate").code == 0


def test_what_is_weakened_is_found(project: Path, run: Run) -> None:
    assert run("init", "include/lib/queue.hpp").code == 0
    weak = QUEUE.replace(
        "tail + 1, std::memory_order_release", "tail + 1, std::memory_order_relaxed"
    )
    (project / "include" / "lib" / "queue.hpp").write_text(weak)
    assert "needs at least release" in run("gate").printed(1)


def test_operations_of_an_object_are_no_scenario(project: Path, run: Run) -> None:
    assert run("init", "include/ring.h").code == 0
    assert run("new", "queue", "include/ring.h", "--calls", "2").code in (0, 1)
    assert (project / "tests" / "weakspot" / "operations" / "ring.c").exists()
    assert run("gate").code == 0


@pytest.mark.parametrize("header", ["strange.h", None])
def test_without_a_guess_a_template_says_what_to_fill_in(
    project: Path, run: Run, header: str | None, snapshot: SnapshotAssertion
) -> None:
    (project / "strange.h").write_text("double strange(double *where, void (*what)(int));\n")
    printed = run("init", *([header] if header else [])).printed(0)
    (scenario,) = (project / "tests" / "weakspot").iterdir()
    assert f"{printed}\n{scenario.read_text()}" == snapshot
    gate = run("gate")
    assert gate.code == 2
    assert "WS002 fill in the object" in gate.out


def test_a_header_that_compilers_find_needs_no_include_folder(project: Path, run: Run) -> None:
    ended = run("init", "/usr/include/search.h")
    assert "wrote tests/weakspot/search.c" in ended.out
    assert "[build]" not in (project / "weakspot.toml").read_text()


def test_private_functions_and_macros_of_a_header_are_seen_through(project: Path, run: Run) -> None:
    """What begins with an underscore is not for users, and a constructor may have initializers in
    `#if` and an attribute in a macro."""
    decorated = QUEUE.replace(
        "  explicit Queue(int first = 0) : head_(first), tail_(first) {}",
        "  LIB_NO_TSAN Queue(int first = 0)\n#ifndef NDEBUG\n    : head_(first)\n#endif\n  {}\n"
        "  LIB_NO_TSAN Queue(Queue &&) : head_(0) {}",
    )
    text = "#define LIB_NO_TSAN\n" + decorated.replace("head_(first), tail_(first)", "")
    (project / "decorated.hpp").write_text(text.replace("head_, tail_;", "head_{0}, tail_{0};"))
    assert "lib::Queue<int, 2>: try_push in one thread" in run("init", "decorated.hpp").out
    names = RING.replace("ring_push", "_ring_push")
    (project / "private.h").write_text(names)
    assert "_ring_push" not in run("init", "private.h").out


def test_a_header_is_read_as_the_preprocessor_leaves_it(project: Path, run: Run) -> None:
    (project / "include/base.h").write_text(
        "#define ALIGNED alignas(64)\n#define OWN __attribute__((noinline))\n"
    )
    (project / "include/box.hpp").write_text(
        """#pragma once
#include "base.h"
#include <atomic>
#define TRY(name) try_##name
template <typename T> class ALIGNED Box {
public:
  OWN explicit Box(int room = 1)
#ifdef NEVER
      : room(0)
#else
      : room(room)
#endif
  {}
  OWN bool TRY(push)(T const &value) {
    if (full.load(std::memory_order_acquire)) return false;
    item = value;
    full.store(true, std::memory_order_release);
    return true;
  }
  OWN bool TRY(pop)(T &value) {
    if (!full.load(std::memory_order_acquire)) return false;
    value = item;
    full.store(false, std::memory_order_release);
    return true;
  }
private:
  std::atomic<bool> full{false};
  T item{};
  int room;
};
"""
    )
    ended = run("init", "include/box.hpp")
    assert "Box<int>: try_push in one thread, try_pop in the other\n  Safe" in ended.out


def test_a_missing_include_is_the_reason_for_the_template(project: Path, run: Run) -> None:
    (project / "include/needy.h").write_text('#include "missing.h"\nvoid put(struct box *, int);\n')
    ended = run("init", "include/needy.h")
    assert "could be guessed ('missing.h' file not found)" in ended.out
    assert "#error fill in" in (project / "tests/weakspot/needy.c").read_text()


def test_a_lock_may_be_spelled_with_capitals(project: Path, run: Run) -> None:
    (project / "include/capital.hpp").write_text(
        SPIN.replace("lock()", "Lock()").replace("unLock", "Unlock")
    )
    assert "Lock and Unlock in two threads\n  Safe" in run("init", "include/capital.hpp").out


def test_a_region_is_entered_and_left_by_either_name(project: Path, run: Run) -> None:
    (project / "include/region.h").write_text(
        """#include <stdatomic.h>
struct region { atomic_int word; };
static inline void region_enter(struct region *r) { while (atomic_exchange(&r->word, 1)) {} }
static inline void region_exit(struct region *r) { atomic_store(&r->word, 0); }
"""
    )
    ended = run("init", "include/region.h")
    assert "region_enter and region_exit in two threads\n  Safe" in ended.out


def test_the_writers_side_of_a_lock_is_tried(project: Path, run: Run) -> None:
    (project / "include/both.h").write_text(
        """#include <stdatomic.h>
struct both { atomic_int word; };
static inline void both_read_lock(struct both *b) { (void)b; }
static inline void both_read_unlock(struct both *b) { (void)b; }
static inline void both_write_lock(struct both *b) { while (atomic_exchange(&b->word, 1)) {} }
static inline void both_write_unlock(struct both *b) { atomic_store(&b->word, 0); }
"""
    )
    ended = run("init", "include/both.h")
    assert "both_write_lock and both_write_unlock in two threads\n  Safe" in ended.out


def test_what_x86_assembly_orders_is_checked_as_x86(project: Path, run: Run) -> None:
    (project / "include/word.h").write_text(
        """struct word { unsigned held; };
static inline void word_lock(struct word *w) {
  unsigned old = 1;
  do __asm__ __volatile__("xchgl %0, %1" : "+r"(old), "+m"(w->held) : : "memory"); while (old);
}
static inline void word_unlock(struct word *w) {
  __asm__ __volatile__("movl %1, %0" : "=m"(w->held) : "r"(0) : "memory");
}
"""
    )
    assert "Safe under tso" in run("init", "include/word.h").out
    assert run("gate").code == 0
    (project / "tests/weakspot/word.c").unlink()
    (project / "weakspot.toml").write_text('[gate]\nscenarios = ["tests/weakspot/*.c"]\n')
    assert 'give weakspot.toml the line models = ["tso"]' in run("init", "include/word.h").out


def test_a_configuration_that_is_wrong_leaves_no_scenario(project: Path, run: Run) -> None:
    (project / "weakspot.toml").write_text('[gate]\nscenarios = ["tests/*.none"]\n')
    assert "matches no file" in run("init", "include/spin_lock.hpp").err
    assert not (project / "tests").exists()


def test_a_guess_without_an_assertion_that_goes_wrong_is_no_scenario(
    project: Path, run: Run
) -> None:
    (project / "include/gauge.h").write_text(
        """struct gauge { int level; };
static inline void gauge_raise(struct gauge *g) { g->level = g->level + 1; }
static inline void gauge_lower(struct gauge *g) { g->level = g->level - 1; }
"""
    )
    ended = run("init", "include/gauge.h")
    assert "gauge_raise in one thread, gauge_lower in the other may be a misuse" in ended.out
    assert "#error fill in" in (project / "tests/weakspot/gauge.c").read_text()


def test_nothing_is_overwritten_without_force(project: Path, run: Run) -> None:
    (project / "weakspot.toml").write_text('[gate]\nscenarios = ["SB.litmus"]\n')
    ended = run("init", "include/spin_lock.hpp")
    assert "weakspot.toml was there and is unchanged" in ended.out
    assert "add tests/weakspot/spin_lock.cpp to the scenarios" in ended.out
    scenario = project / "tests" / "weakspot" / "spin_lock.cpp"
    scenario.write_text("// mine\n")
    errors = run("init", "include/spin_lock.hpp").reported(2)
    assert errors.startswith("error: tests/weakspot/spin_lock.cpp exists already\n")
    assert scenario.read_text() == "// mine\n"
    assert run("init", "include/spin_lock.hpp", "--force").code == 0
    assert "SpinLock" in scenario.read_text()
    assert "tests/weakspot" in (project / "weakspot.toml").read_text()


@pytest.mark.parametrize("header", ["gone.hpp", "mp.c", "include"])
def test_what_is_no_header_is_an_error(
    project: Path, run: Run, header: str, snapshot: SnapshotAssertion
) -> None:
    assert steady(run("init", header).reported(2), project) == snapshot
    assert not (project / "weakspot.toml").exists()


BOUNDED = """\
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#define ALWAYS_INLINE inline
template <typename T> class Base {
public:
  explicit Base(std::size_t capacity, int spins = 3)
      : size_(capacity + 1), slots_(new T[size_]) { (void)spins; }
  Base(const Base &) = delete;
  PUT
  TAKE
protected:
  template <typename U> bool put(U &&value) {
    const auto tail = tail_.load(std::memory_order_relaxed);
    const auto next = (tail + 1) % size_;
    if (next == head_.load(std::memory_order_acquire)) return false;
    slots_[tail] = std::forward<U>(value);
    tail_.store(next, std::memory_order_release);
    return true;
  }
  std::optional<T> take() {
    const auto head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return std::nullopt;
    std::optional<T> value = std::move(slots_[head]);
    head_.store((head + 1) % size_, std::memory_order_release);
    return value;
  }
  const std::size_t size_;
  std::unique_ptr<T[]> slots_;
  std::atomic<std::size_t> head_{0}, tail_{0};
};
template <typename T> class Bounded : public Base<T> {
public:
  Bounded(std::size_t capacity) : Base<T>(capacity) {}
};
"""
PUTS = {
    "forwarded": "template <typename U> bool try_enqueue(U &&value) "
    "{ return put(std::forward<U>(value)); }",
    "emplaced": "template <typename... Args> bool emplace(Args &&...args) "
    "{ return put(T(std::forward<Args>(args)...)); }",
    "overloaded": "bool try_push(const T &v) { return put(v); } "
    "bool try_push(T &&v) { return put(std::move(v)); }",
    "moved": "bool try_push(T &&v) { return put(std::move(v)); }",
}
TAKES = {
    "optional": "ALWAYS_INLINE std::optional<T> pop() { return take(); }",
    "reference": "ALWAYS_INLINE bool pop(T &value) "
    "{ auto one = take(); if (one) value = *one; return bool(one); }",
    "overloaded": "bool pop() { return bool(take()); } "
    "bool pop(T &value) { auto one = take(); if (one) value = *one; return bool(one); }",
    "deduced": "template <class U> bool try_dequeue(U &value) "
    "{ auto one = take(); if (one) value = *one; return bool(one); }",
}


@pytest.mark.parametrize(
    ("put", "take"),
    [*((put, "optional") for put in PUTS), *(("forwarded", take) for take in TAKES)],
)
def test_a_queue_as_libraries_write_it_is_used(folder: Path, run: Run, put: str, take: str) -> None:
    text = BOUNDED.replace("PUT", PUTS[put]).replace("TAKE", TAKES[take])
    (folder / "bounded.hpp").write_text(text)
    ended = run("init", "bounded.hpp")
    assert "Bounded<int>: " in ended.out
    assert "in one thread" in ended.out
    assert "Safe under rc20: 2 executions" in ended.out
    scenario = (folder / "tests" / "weakspot" / "bounded.cpp").read_text()
    assert "Bounded<int> object(2);" in scenario
    assert "assert(" in scenario
    made = run("new", "queue", "bounded.hpp", "--calls", "2")
    assert made.out.startswith("wrote tests/weakspot/operations/bounded.cpp"), made.err
    assert "not linearizable" not in made.out


def test_a_base_class_is_not_constructed(folder: Path, run: Run) -> None:
    protected = BOUNDED.replace("  explicit Base", "protected:\n  explicit Base").replace(
        "  PUT", "public:\n  PUT"
    )
    text = protected.replace("PUT", PUTS["moved"]).replace("TAKE", TAKES["optional"])
    (folder / "base.hpp").write_text(text)
    assert "Bounded<int>: try_push" in run("init", "base.hpp").out


def test_a_run_that_fails_leaves_nothing(folder: Path, run: Run) -> None:
    (folder / "weakspot.toml").write_text("[gate\n")
    (folder / "some.hpp").write_text("struct Some { int get(); };\n")
    before = sorted(folder.rglob("*"))
    assert run("init", "some.hpp").code == 2
    (folder / "weakspot.toml").unlink()
    assert run("new", "queue", "some.hpp").code == 2
    before.remove(folder / "weakspot.toml")
    assert sorted(folder.rglob("*")) == before


def test_the_command_that_new_prints_works(folder: Path, run: Run) -> None:
    (folder / "my include").mkdir()
    own = "#ifndef OWN\n#error OWN is needed\n#endif\n"
    text = BOUNDED.replace("PUT", PUTS["moved"]).replace("TAKE", TAKES["optional"])
    (folder / "my include" / "bounded.hpp").write_text(own + text)
    made = run("new", "queue", "my include/bounded.hpp", "--calls", "2", "-D", "OWN")
    (line,) = (each for each in made.out.splitlines() if each.startswith("next: "))
    program, *words = shlex.split(line.removeprefix("next: "))
    assert program == "weakspot"
    again = run(*words, "--calls", "2")
    assert (again.code, again.err) == (made.code, "")
    assert "as a queue, under rc20" in again.out
