"""`weakspot init` finds a use for the headers of libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import Run

FIFO = """\
#ifndef FIFO_H
#define FIFO_H
#include <stdbool.h>
#define LIB_INLINE inline
#define LIB_RESTRICT restrict
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


def test_an_element_and_a_stub_that_the_caller_gives_are_defined(folder: Path, run: Run) -> None:
    (folder / "fifo.h").write_text(FIFO)
    out = run("init", "fifo.h").out
    assert "lib_fifo_enqueue in one thread, lib_fifo_dequeue in the other" in out
    assert "Safe under rc20" in out
    text = (folder / "tests/weakspot/fifo.c").read_text()
    assert "lib_fifo_init(&object, &stub);" in text
    assert "lib_fifo_enqueue(&object, &entry, &item);" in text
    assert run("gate").code == 0


@pytest.mark.parametrize(
    ("header", "does"),
    [
        ("ck_fifo.h", "ck_fifo_spsc_enqueue in one thread, ck_fifo_spsc_dequeue in the other"),
        ("ck_ring.h", "ck_ring_enqueue_spsc in one thread, ck_ring_dequeue_spsc in the other"),
        ("ck_spinlock.h", "lock and ck_elide_ck_spinlock_unlock in two threads"),
        ("concurrentqueue/concurrentqueue.h", "enqueue in one thread, try_dequeue in the other"),
        ("readerwriterqueue/readerwriterqueue.h", "try_enqueue in one thread, try_dequeue"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_installed_libraries_get_a_scenario(run: Run, header: str, does: str) -> None:
    path = Path("/usr/include") / header
    if not path.is_file():
        pytest.skip(f"{path} is not installed")
    printed = run("init", str(path)).printed(0)
    assert does in printed
    assert "Safe under" in printed
