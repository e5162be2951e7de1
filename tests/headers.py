"""Headers of libraries, and their sources, as a user has them."""

from __future__ import annotations

RING = """\
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
typedef struct { atomic_int full; int slot; } ring_t;
void ring_init(ring_t *r, unsigned capacity);
bool ring_push(ring_t *r, int value);
bool ring_pop(ring_t *r, int *value);
void ring_destroy(ring_t *r);
"""
RING_C = """\
#include "ring.h"
void ring_init(ring_t *r, unsigned capacity) { (void)capacity; r->full = 0; }
bool ring_push(ring_t *r, int value) {
  if (atomic_load_explicit(&r->full, memory_order_acquire)) return false;
  r->slot = value;
  atomic_store_explicit(&r->full, 1, memory_order_release);
  return true;
}
bool ring_pop(ring_t *r, int *value) {
  if (!atomic_load_explicit(&r->full, memory_order_acquire)) return false;
  *value = r->slot;
  atomic_store_explicit(&r->full, 0, memory_order_release);
  return true;
}
"""
