/* A reference count: who drops the last reference frees the object.

   The orders are those of Boost.Atomic's documentation, "Usage examples, reference counting", 2011, and
   of Rust's Arc: a reference is added by somebody who has one, and orders nothing; dropping one
   publishes what its holder did (release), and who drops the last acquires that of all others.

     COUNT_ADD_ORDER   add: fetch_add                        (relaxed)
     COUNT_DROP_ORDER  drop: fetch_sub                       (release)
     COUNT_LAST_FENCE  drop: fence of who drops the last     (acquire)
     COUNT_LOOK        if defined, who drops the last is found by a load after the fetch_sub */

#ifndef COUNT_H
#define COUNT_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef COUNT_ADD_ORDER
#define COUNT_ADD_ORDER memory_order_relaxed
#endif
#ifndef COUNT_DROP_ORDER
#define COUNT_DROP_ORDER memory_order_release
#endif
#ifndef COUNT_LAST_FENCE
#define COUNT_LAST_FENCE memory_order_acquire
#endif

static inline void count_add(atomic_int *count)
{
    atomic_fetch_add_explicit(count, 1, COUNT_ADD_ORDER);
}

/* True for the last reference: no other thread uses the object any more. */
static inline bool count_drop(atomic_int *count)
{
#ifdef COUNT_LOOK
    atomic_fetch_sub_explicit(count, 1, COUNT_DROP_ORDER);
    if (atomic_load_explicit(count, memory_order_relaxed) != 0)
        return false;
#else
    if (atomic_fetch_sub_explicit(count, 1, COUNT_DROP_ORDER) != 1)
        return false;
#endif
    atomic_thread_fence(COUNT_LAST_FENCE);
    return true;
}

#endif
