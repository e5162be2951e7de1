"""Headers of libraries, and their sources, as a user has them."""

from __future__ import annotations

QUEUE = """\
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
namespace lib {
template <typename T, std::size_t Capacity> class Queue {
public:
  explicit Queue(int first = 0) : head_(first), tail_(first) {}
  bool try_push(const T &value) {
    const auto tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == Capacity) return false;
    slots_[tail % Capacity] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  std::optional<T> try_pop() {
    const auto head = head_.load(std::memory_order_relaxed);
    if (tail_.load(std::memory_order_acquire) == head) return std::nullopt;
    const T value = slots_[head % Capacity];
    head_.store(head + 1, std::memory_order_release);
    return value;
  }
private:
  std::atomic<std::size_t> head_, tail_;
  T slots_[Capacity]{};
};
} // namespace lib
"""
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
