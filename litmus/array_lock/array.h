/* Anderson's array lock: each thread waits at a slot of its own, and passes the lock to the next slot.

   Thomas Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors",
   IEEE TPDS 1(1), 1990.

   At least as many slots as threads are needed; the number is a power of two, so that the counter may
   wrap around. The slot is closed again by the thread that leaves it, before it opens the next one.

     ARRAY_WAIT_ORDER  lock: wait for the slot          (acquire)
     ARRAY_PASS_ORDER  unlock: open the next slot       (release)
     ARRAY_SLOTS       number of slots */

#ifndef ARRAY_H
#define ARRAY_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef ARRAY_SLOTS
#define ARRAY_SLOTS 4
#endif
#ifndef ARRAY_WAIT_ORDER
#define ARRAY_WAIT_ORDER memory_order_acquire
#endif
#ifndef ARRAY_PASS_ORDER
#define ARRAY_PASS_ORDER memory_order_release
#endif

struct array {
    atomic_uint next;
    atomic_bool open[ARRAY_SLOTS];
};

#define ARRAY_INIT {.open = {true}}

/* Returns the thread's slot. */
static inline unsigned array_lock(struct array *l)
{
    unsigned slot = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed) % ARRAY_SLOTS;
    while (!atomic_load_explicit(&l->open[slot], ARRAY_WAIT_ORDER)) {
    }
    return slot;
}

static inline void array_unlock(struct array *l, unsigned slot)
{
    atomic_store_explicit(&l->open[slot], false, memory_order_relaxed);
    atomic_store_explicit(&l->open[(slot + 1) % ARRAY_SLOTS], true, ARRAY_PASS_ORDER);
}

#endif
