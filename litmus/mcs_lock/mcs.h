/* The MCS lock: a queue of waiting threads, each of which waits at a node of its own.

   John Mellor-Crummey, Michael Scott, "Algorithms for scalable synchronization on shared-memory
   multiprocessors", TOCS 9(1), 1991, section 2.4. The memory orders are those that Oberhauser et al.,
   "VSync: push-button verification and optimization for synchronization primitives on weak memory
   models", ASPLOS 2021, arrive at. They found that the MCS lock of DPDK linked a node with a relaxed
   store: the node's owner may set its flag after the predecessor has cleared it, and waits forever.

   The exchange publishes the node (release), so that the link that the successor writes comes after
   the null that the owner wrote, and takes over what was done inside (acquire).

     MCS_ENQUEUE_ORDER  lock: exchange of the tail              (acq_rel)
     MCS_LINK_ORDER     lock: link from the predecessor         (release)
     MCS_WAIT_ORDER     lock: wait for the predecessor          (acquire)
     MCS_NEXT_ORDER     unlock: read of the successor           (acquire)
     MCS_DEQUEUE_ORDER  unlock: the tail is set to null         (release)
     MCS_PASS_ORDER     unlock: the successor may enter         (release) */

#ifndef MCS_H
#define MCS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef MCS_ENQUEUE_ORDER
#define MCS_ENQUEUE_ORDER memory_order_acq_rel
#endif
#ifndef MCS_LINK_ORDER
#define MCS_LINK_ORDER memory_order_release
#endif
#ifndef MCS_WAIT_ORDER
#define MCS_WAIT_ORDER memory_order_acquire
#endif
#ifndef MCS_NEXT_ORDER
#define MCS_NEXT_ORDER memory_order_acquire
#endif
#ifndef MCS_DEQUEUE_ORDER
#define MCS_DEQUEUE_ORDER memory_order_release
#endif
#ifndef MCS_PASS_ORDER
#define MCS_PASS_ORDER memory_order_release
#endif

struct mcs_node {
    _Atomic(struct mcs_node *) next;
    atomic_bool waits;
};

struct mcs {
    _Atomic(struct mcs_node *) tail;
};

static inline void mcs_lock(struct mcs *l, struct mcs_node *own)
{
    atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&own->waits, true, memory_order_relaxed);
    struct mcs_node *before = atomic_exchange_explicit(&l->tail, own, MCS_ENQUEUE_ORDER);
    if (before) {
        atomic_store_explicit(&before->next, own, MCS_LINK_ORDER);
        while (atomic_load_explicit(&own->waits, MCS_WAIT_ORDER)) {
        }
    }
}

static inline void mcs_unlock(struct mcs *l, struct mcs_node *own)
{
    struct mcs_node *after = atomic_load_explicit(&own->next, MCS_NEXT_ORDER);
    if (!after) {
        struct mcs_node *last = own;
        if (atomic_compare_exchange_strong_explicit(&l->tail, &last, NULL, MCS_DEQUEUE_ORDER,
                                                    memory_order_relaxed))
            return;
        while (!(after = atomic_load_explicit(&own->next, MCS_NEXT_ORDER))) {
        }
    }
    atomic_store_explicit(&after->waits, false, MCS_PASS_ORDER);
}

#endif
