"""A cat file that is edited while it is used: no answer is stored for the text before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weakspot.generators.source.program import Program
from weakspot.harness.cli import weakspot
from weakspot.harness.cli.errors import guarded

pytestmark = pytest.mark.usefixtures("empty_cache")

STRONG = 'include "cos.cat"\nacyclic po | rf | co | fr as sc\n'
WEAK = 'include "cos.cat"\nacyclic po-loc | rf | co | fr as coherence\nacyclic po | rf as causality\n'
PROGRAM = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, full;
static void *put(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&full, 1, memory_order_relaxed);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, put, 0);
  if (atomic_load_explicit(&full, memory_order_relaxed))
    assert(atomic_load_explicit(&x, memory_order_relaxed));
  pthread_join(thread, 0);
}
"""
OBJECT = """\
#include <stdatomic.h>
static atomic_int x, full;
void enqueue(int value) {
  atomic_store_explicit(&x, value, memory_order_relaxed);
  atomic_store_explicit(&full, 1, memory_order_relaxed);
}
int dequeue(void) {
  if (!atomic_load_explicit(&full, memory_order_relaxed)) return -1;
  return atomic_load_explicit(&x, memory_order_relaxed);
}
"""
COMMANDS = {
    "check": ("check", "program.c", "--model", "own.cat"),
    "gate": ("gate", "program.c"),
    "linearize": ("linearize", "object.c", "--as", "queue", "--calls", "2", "--model", "own.cat"),
    "relax": ("relax", "program.c", "--model", "own.cat"),
    "test": (
        "test",
        "program.c",
        "--model",
        "own.cat",
        "--checker",
        "engine",
        "--for",
        "0",
        "-o",
        "campaign",
    ),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_edit_of_a_model_while_a_program_is_explored_is_not_taken_for_the_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.c").write_text(PROGRAM)
    Path("object.c").write_text(OBJECT)
    Path("weakspot.toml").write_text('models = ["own.cat"]\n[gate]\nscenarios = ["program.c"]\n')
    Path("own.cat").write_text('"OWN"\ninclude "base.cat"\n')
    base = Path("base.cat")
    base.write_text(STRONG)
    explore = Program.explore

    def edited(*arguments: Any, **options: Any) -> Any:
        base.write_text(WEAK)
        return explore(*arguments, **options)

    monkeypatch.setattr(Program, "explore", edited)
    assert guarded(weakspot, command) == 1, "the text as it is when the program is explored"
    monkeypatch.setattr(Program, "explore", explore)
    base.write_text(STRONG)
    assert guarded(weakspot, command) == 0
    base.write_text(WEAK)
    assert guarded(weakspot, command) == 1
