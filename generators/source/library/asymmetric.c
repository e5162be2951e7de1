// Asymmetric fences (P1202R5): a heavy and a light one order as two seq_cst fences do, two light ones
// order nothing. In C they are declared by the program; in C++, <experimental/asymmetric_fence> does.
#include "weakspot.h"
#include <stdatomic.h>

static int is_fence(memory_order order) {
  if (order != memory_order_relaxed && order != memory_order_seq_cst)
    weakspot_unsupported("an asymmetric fence with another memory order than seq_cst");
  return order != memory_order_relaxed;
}

WEAKSPOT_LIBRARY void asymmetric_thread_fence_light(memory_order order) {
  if (is_fence(order))
    weakspot_light_fence();
}

WEAKSPOT_LIBRARY void asymmetric_thread_fence_heavy(memory_order order) {
  if (is_fence(order))
    weakspot_heavy_fence();
}
