"""Under a model in which loads may wait for later stores, a thread in a critical section waits for
none that follow the section, and no thread for what follows its end."""

from __future__ import annotations

from pathlib import Path

from weakspot._engine import Program
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds

MODELS = Path(__file__).parents[2] / "models"

ARRAY = """\
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct array { int *begin, *end, *limit; } *array;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void append(int value) {
  if (array->end == array->limit) {
    long size = array->end - array->begin, room = array->limit - array->begin;
    int *larger = malloc(2 * room * sizeof *larger);
    for (long k = 0; k < array->end - array->begin; ++k) larger[k] = array->begin[k];
    array->begin = larger;
    array->end = array->begin + size;
    array->limit = array->begin + 2 * room;
  }
  *array->end = value;
  array->end++;
}
static void *run(void *unused) {
  LOCK append(1); append(2); UNLOCK
  return unused;
}
int main(void) {
  pthread_t thread;
  array = malloc(sizeof *array);
  array->begin = array->end = malloc(2 * sizeof *array->begin);
  array->limit = array->begin + 2;
  pthread_create(&thread, 0, run, 0);
  LOCK BESIDE UNLOCK
  pthread_join(thread, 0);
  append(4);
  assert(array->end - array->begin == COUNT);
}
"""
LOCK, UNLOCK = "pthread_mutex_lock(&mutex);", "pthread_mutex_unlock(&mutex);"


def explored(folder: Path, **parts: str) -> tuple[str, int]:
    path, text = folder / "array.c", ARRAY
    for name, part in parts.items():
        text = text.replace(name, part)
    path.write_text(text)
    imm = models.load()["imm"]
    assert imm.acyclic != "none"
    found = Program(compile_source(path).text).explore(
        str(imm.path), bounds=Bounds(seconds=60.0), folders=[str(MODELS)], acyclic=imm.acyclic
    )
    return found["result"], found["complete"]


def test_a_thread_reads_nothing_that_follows_its_end(tmp_path: Path) -> None:
    assert explored(tmp_path, UNLOCK="", LOCK="", BESIDE="", COUNT="3") == ("Safe", 1)


def test_a_critical_section_reads_nothing_of_the_next(tmp_path: Path) -> None:
    found = explored(tmp_path, UNLOCK=UNLOCK, LOCK=LOCK, BESIDE="append(3);", COUNT="4")
    assert found == ("Safe", 2)
