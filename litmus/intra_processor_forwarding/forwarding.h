/* Intra-processor forwarding: a thread reads its own store back before it looks at the other's.

   Joe Duffy, weblog, July 2008, on loads that pass loads, and his argument of 20 July 2008 from the
   rules of the CLR 2.0 memory model; Intel, "Intel 64 Architecture Memory Ordering White Paper"
   (2007), rule 2.4. A store buffer forwards a store to the loads of its own processor before others
   can see it. So the thread that has read its own store may still miss the other's, although the two
   loads are in order.

   The orders are the author's volatile accesses: stores release, loads acquire.

     FWD_STORE_ORDER  order of the store                                       (release)
     FWD_LOAD_ORDER   order of both loads                                      (acquire)
     FWD_RMW_ORDER    if defined, the store is read back by an add of 0 with this order
     FWD_FENCE_ORDER  if defined, a fence with this order stands after the read back */

#ifndef FORWARDING_H
#define FORWARDING_H

#include <stdatomic.h>

#ifndef FWD_STORE_ORDER
#define FWD_STORE_ORDER memory_order_release
#endif
#ifndef FWD_LOAD_ORDER
#define FWD_LOAD_ORDER memory_order_acquire
#endif

static inline int fwd_look(atomic_int *where)
{
    return atomic_load_explicit(where, FWD_LOAD_ORDER);
}

static inline int fwd_store_and_read_back(atomic_int *mine, int value)
{
    atomic_store_explicit(mine, value, FWD_STORE_ORDER);
#ifdef FWD_RMW_ORDER
    int seen = atomic_fetch_add_explicit(mine, 0, FWD_RMW_ORDER);
#else
    int seen = fwd_look(mine);
#endif
#ifdef FWD_FENCE_ORDER
    atomic_thread_fence(FWD_FENCE_ORDER);
#endif
    return seen;
}

#endif
