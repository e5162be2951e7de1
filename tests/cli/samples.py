"""What the tests of the command line give it, and what they get."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from ended import Ended

WEAKSPOT = Path(sys.executable).with_name("weakspot")

SB = """\
C SB
{ }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r0 = atomic_load_explicit(y, memory_order_acquire);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_release);
  int r0 = atomic_load_explicit(x, memory_order_acquire);
}
exists (0:r0=0 /\\ 1:r0=0)
"""

PROGRAM = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, ready;

static void *write_both(void *unused) {
  atomic_store_explicit(&data, 42, memory_order_relaxed);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return unused;
}

static void *read_both(void *unused) {
  if (atomic_load_explicit(&ready, memory_order_acquire))
    assert(atomic_load_explicit(&data, memory_order_relaxed) == EXPECTED);
  return unused;
}

int main(void) {
  pthread_t writer, reader;
  pthread_create(&writer, 0, write_both, 0);
  pthread_create(&reader, 0, read_both, 0);
  pthread_join(writer, 0);
  pthread_join(reader, 0);
  return 0;
}
"""

WIDE = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x[4], early;
static int place[4];
static void *step(void *number) {
  int k = (int)(long)number;
  place[k] = atomic_fetch_add(&early, 1);
  for (int i = 0; i < 4; i++) {
    atomic_fetch_add_explicit(&x[(k + i) % 4], 1, memory_order_acq_rel);
    atomic_store_explicit(&x[k * i % 4], i, memory_order_release);
    (void)atomic_load_explicit(&x[(k + 2 * i) % 4], memory_order_acquire);
  }
  return number;
}
int main(void) {
  pthread_t t[4];
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, step, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  assert(x[0] < 100 && place[0] < 4);
}
"""
"""Too many executions for any time. Which thread is first is the search's earliest choice, and so
the last that it changes, unless it starts with few departures."""


Run = Callable[..., Ended]
