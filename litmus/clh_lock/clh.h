/* The CLH lock: each thread waits at the node of the thread before it, and leaves with that node.

   Travis Craig, "Building FIFO and priority-queuing spin locks from atomic swap", University of
   Washington TR 93-02-02, 1993; Anders Landin, Erik Hagersten, "Queue locks on cache coherent
   multiprocessors", IPPS 1994.

   A thread may not use its node again after unlocking: its successor may still look at it. The
   exchange publishes the flag of the node (release); the store that clears the flag hands over what
   was done inside.

     CLH_ENQUEUE_ORDER  lock: exchange of the tail     (acq_rel)
     CLH_WAIT_ORDER     lock: wait for the thread before (acquire)
     CLH_PASS_ORDER     unlock: clear the own flag     (release)
     CLH_KEEP_NODE      if defined, a thread uses its own node again */

#ifndef CLH_H
#define CLH_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef CLH_ENQUEUE_ORDER
#define CLH_ENQUEUE_ORDER memory_order_acq_rel
#endif
#ifndef CLH_WAIT_ORDER
#define CLH_WAIT_ORDER memory_order_acquire
#endif
#ifndef CLH_PASS_ORDER
#define CLH_PASS_ORDER memory_order_release
#endif

struct clh_node {
    atomic_bool taken;
};

struct clh {
    _Atomic(struct clh_node *) tail;
};

/* Returns the node of the thread before. */
static inline struct clh_node *clh_lock(struct clh *l, struct clh_node *own)
{
    atomic_store_explicit(&own->taken, true, memory_order_relaxed);
    struct clh_node *before = atomic_exchange_explicit(&l->tail, own, CLH_ENQUEUE_ORDER);
    while (atomic_load_explicit(&before->taken, CLH_WAIT_ORDER)) {
    }
    return before;
}

/* Returns the node to lock with the next time. */
static inline struct clh_node *clh_unlock(struct clh_node *own, struct clh_node *before)
{
    atomic_store_explicit(&own->taken, false, CLH_PASS_ORDER);
#ifdef CLH_KEEP_NODE
    (void)before;
    return own;
#else
    return before;
#endif
}

#endif
