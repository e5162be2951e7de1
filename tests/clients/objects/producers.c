/* A list of items for each thread that puts some in, as in moodycamel::ConcurrentQueue: items of one
   thread leave in their order, items of different threads in any order. */

#include <stdatomic.h>

#ifndef FIRST_ORDER
#define FIRST_ORDER memory_order_relaxed
#endif
#ifndef TAKEN_ORDER
#define TAKEN_ORDER memory_order_relaxed
#endif

enum { LISTS = 3, ITEMS = 4 };

static atomic_int threads;
static _Thread_local int own;
static struct {
  long items[ITEMS];
  atomic_uint first, last;
} lists[LISTS];

void put(long value) {
  if (!own)
    own = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
  unsigned at = atomic_load_explicit(&lists[own - 1].last, memory_order_relaxed);
  lists[own - 1].items[at] = value;
  atomic_store_explicit(&lists[own - 1].last, at + 1, memory_order_release);
}

/* The last list first, so that the order of the threads is not that of their items. */
long take(void) {
  for (int list = LISTS - 1; list >= 0; --list) {
    unsigned at = atomic_load_explicit(&lists[list].first, FIRST_ORDER), last;
    while (at < (last = atomic_load_explicit(&lists[list].last, memory_order_acquire))) {
#ifdef NEWEST
      long value = lists[list].items[last - 1];
#else
      long value = lists[list].items[at];
#endif
      if (atomic_compare_exchange_strong_explicit(&lists[list].first, &at, at + 1, TAKEN_ORDER,
                                                  FIRST_ORDER))
        return value;
    }
  }
  return -1;
}
