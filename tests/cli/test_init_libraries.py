"""`weakspot init` finds a use for the headers of libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import Run

from weakspot.harness.scaffold.bodies import only_declarations

FIFO = """\
#ifndef FIFO_H
#define FIFO_H
#include <stdbool.h>
#define LIB_INLINE inline
struct fifo_entry { void *value; struct fifo_entry *_Atomic next; };
struct fifo { struct fifo_entry *head, *tail; };
LIB_INLINE static void lib_fifo_init(struct fifo *fifo, struct fifo_entry *stub)
{
  stub->next = 0;
  fifo->head = fifo->tail = stub;
}
LIB_INLINE static void lib_fifo_enqueue(struct fifo *fifo, struct fifo_entry *LIB_RESTRICT entry,
                                        void *value)
{
  entry->value = value;
  entry->next = 0;
  fifo->tail->next = entry;
  fifo->tail = entry;
}
LIB_INLINE static bool lib_fifo_dequeue(struct fifo *fifo, void *value)
{
  struct fifo_entry *entry = fifo->head->next;
  if (!entry) return false;
  *(void **)value = entry->value;
  fifo->head = entry;
  return true;
}
#endif
"""
SPIN = """\
static inline void lib_lock(struct lib_spin *lock)
{
  while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE)) {}
}
static inline void lib_unlock(struct lib_spin *lock)
{
  WEAKEN
  __atomic_store_n(&lock->taken, 0, ORDER);
}
"""
QUEUE = """\
#pragma once
#include <atomic>
#define LIB_NO_TSAN
#define LIB_IF if
namespace lib {
template <typename T> class LIB_ALIGNED OneQueue {
public:
  OneQueue()
#ifndef NDEBUG
    : full(false)
#endif
  {}
#if LIB_HAS_MOVE
  bool enqueue(T &&item) LIB_NO_TSAN
#else
  bool enqueue(T const &item) LIB_NO_TSAN
#endif
  {
    LIB_IF (full.load()) return false; else { slot = item; }
    full.store(true);
    return true;
  }
  template <typename U> bool try_dequeue(U &item) {
    LIB_IF (!full.load()) return false; else item = slot;
    full.store(false);
    return true;
  }
private:
  std::atomic<bool> full{false};
  T slot;
};
}
"""


def test_an_element_and_a_stub_that_the_caller_gives_are_defined(folder: Path, run: Run) -> None:
    (folder / "fifo.h").write_text(FIFO.replace("LIB_RESTRICT ", ""))
    out = run("init", "fifo.h").out
    assert "lib_fifo_enqueue in one thread, lib_fifo_dequeue in the other" in out
    assert "Safe under rc20" in out
    text = (folder / "tests/weakspot/fifo.c").read_text()
    assert "lib_fifo_init(&object, &stub);" in text
    assert "lib_fifo_enqueue(&object, &entry, &item);" in text
    (folder / "fifo.h").write_text(
        FIFO.replace("fifo->tail->next = entry", "item_of(entry)").replace("LIB_RESTRICT ", "")
    )
    assert run("gate").code == 2


def test_the_headers_that_a_header_consists_of_are_read(folder: Path, run: Run) -> None:
    (folder / "impl").mkdir()
    spin = "struct lib_spin { int taken; };\n" + SPIN
    (folder / "lib.h").write_text('#include "impl/spin.h"\n#define lock(x) lib_lock(x)\n')
    (folder / "impl/spin.h").write_text(
        spin.replace("  WEAKEN\n", "").replace("ORDER)", "__ATOMIC_RELEASE)")
    )
    out = run("init", "lib.h").out
    assert "lib_lock and lib_unlock in two threads" in out
    assert "Safe under rc20" in out


def test_a_violation_that_x86_does_not_show_names_the_model_for_its_assembly(
    folder: Path, run: Run
) -> None:
    spin = "struct lib_spin { int taken; };\n" + SPIN
    weak = spin.replace("ORDER)", "__ATOMIC_RELAXED)")
    (folder / "spin.h").write_text(weak.replace("WEAKEN", '__asm__ __volatile__("" ::: "memory");'))
    out = run("init", "spin.h").out
    assert "Violated under rc20" in out
    assert (
        'Safe under tso: if the header\'s assembly is meant for x86 alone, put models = ["tso"]'
        in out
    )
    config = folder / "weakspot.toml"
    config.write_text('models = ["tso"]\n' + config.read_text())
    assert run("gate").code == 0
    (folder / "spin.h").write_text(weak.replace("  WEAKEN\n", ""))
    assert "tso" not in run("init", "spin.h", "--force").out


def test_macros_in_functions_and_conditions_in_declarations_are_seen_through(
    folder: Path, run: Run
) -> None:
    (folder / "queue.hpp").write_text(QUEUE.replace("LIB_ALIGNED ", ""))
    out = run("init", "queue.hpp").out
    assert "lib::OneQueue<int>: enqueue in one thread, try_dequeue in the other" in out
    assert "Safe under rc20" in out


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("int f() { return {1}; } int g;", "int f() {} int g;"),
        ("class A { A() : b{1}, c(2) { x; } };", "class A { A() : b{}, c(2) {} };"),
        ("struct s *get(struct q *q) { a; }", "struct s *get(struct q *q) {}"),
        (
            "class alignas(8) A final { void f() const noexcept { a; } };",
            "class alignas(8) A final { void f() const noexcept {} };",
        ),
        (
            "void f()\n{\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\nint g;",
            "void f() {} int g;",
        ),
        ("#if A\nvoid f() X\n#else\nvoid f()\n#endif\n{ a; }\nint g;", "void f() X {} int g;"),
        (
            "enum e { a, b }; char c = '{'; const char *s = \"}{\"; // {\nvoid f() { '}'; }",
            "enum e { a, b }; char c = '{'; const char *s = \"}{\"; // { void f() {}",
        ),
    ],
)
def test_bodies_of_functions_are_left_out(source: str, left: str) -> None:
    found = only_declarations(source.encode()).decode()
    assert len(found) == len(source)
    assert [each == "\n" for each in found] == [each == "\n" for each in source]
    assert "".join(found.split()) == "".join(left.split())


@pytest.mark.parametrize(
    ("header", "does"),
    [
        ("ck_fifo.h", "ck_fifo_spsc_enqueue in one thread, ck_fifo_spsc_dequeue in the other"),
        ("ck_ring.h", "ck_ring_enqueue_spsc in one thread, ck_ring_dequeue_spsc in the other"),
        ("ck_spinlock.h", "ck_spinlock_cas_lock and ck_spinlock_cas_unlock in two threads"),
        ("concurrentqueue/concurrentqueue.h", "enqueue in one thread, try_dequeue in the other"),
        ("readerwriterqueue/readerwriterqueue.h", "try_enqueue in one thread, try_dequeue"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_installed_libraries_get_a_scenario(run: Run, header: str, does: str) -> None:
    path = Path("/usr/include") / header
    if not path.is_file():
        pytest.skip(f"{path} is not installed")
    ended = run("init", str(path))
    assert ended.code == 0
    assert does in ended.out
    assert "Safe under" in ended.out
