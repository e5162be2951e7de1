/* Store buffering: each thread announces itself, then looks for the other.

   Joe Duffy, weblog, July 2008, on loads that pass loads: the adjacent release/acquire problem, and
   its repair by a full fence. Dekker's algorithm rests on the same question: may both threads miss
   each other?

   The orders are the author's volatile accesses: stores release, loads acquire. That is too weak
   when one thread must see the other; the macros give the repairs, and orders that repair nothing.

     SB_STORE_ORDER     order of the store                                    (release)
     SB_LOAD_ORDER      order of the load                                     (acquire)
     SB_EXCHANGE_ORDER  if defined, an exchange with this order is the store
     SB_FENCE_ORDER     if defined, a fence with this order stands between store and load */

#ifndef SB_H
#define SB_H

#include <stdatomic.h>

#ifndef SB_STORE_ORDER
#define SB_STORE_ORDER memory_order_release
#endif
#ifndef SB_LOAD_ORDER
#define SB_LOAD_ORDER memory_order_acquire
#endif

static inline void sb_announce(atomic_int *mine)
{
#ifdef SB_EXCHANGE_ORDER
    atomic_exchange_explicit(mine, 1, SB_EXCHANGE_ORDER);
#else
    atomic_store_explicit(mine, 1, SB_STORE_ORDER);
#endif
}

static inline int sb_look(atomic_int *other)
{
    return atomic_load_explicit(other, SB_LOAD_ORDER);
}

static inline int sb_announce_and_look(atomic_int *mine, atomic_int *other)
{
    sb_announce(mine);
#ifdef SB_FENCE_ORDER
    atomic_thread_fence(SB_FENCE_ORDER);
#endif
    return sb_look(other);
}

#endif
