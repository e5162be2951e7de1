/* The compact NUMA-aware lock: an MCS lock that passes itself on within a socket first.

   Dave Dice, Alex Kogan, "Compact NUMA-aware locks", EuroSys 2019. Who leaves looks along the queue for
   a thread of its own socket; the threads that it skips are moved to a second queue, whose first node
   is handed on with the lock, in the word at which a thread waits. They are put back at the front when
   no thread of the socket is found. How long a socket may keep the lock is left out: it always may.

   The exchange publishes the node (release), so that the link from the thread before comes after the
   null that the owner wrote. All that the holder reads of other nodes, it reads through links that
   their owners stored with release; and the second queue belongs to the thread inside.

     CNA_ENQUEUE_ORDER  lock: exchange of the tail                             (acq_rel)
     CNA_LINK_ORDER     lock: link from the thread before                      (release)
     CNA_WAIT_ORDER     lock: wait for the thread before                       (acquire)
     CNA_NEXT_ORDER     unlock: read of the links                              (acquire)
     CNA_DEQUEUE_ORDER  unlock: the tail is replaced                           (release)
     CNA_PASS_ORDER     unlock: the successor may enter                        (release) */

#ifndef CNA_H
#define CNA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CNA_ENQUEUE_ORDER
#define CNA_ENQUEUE_ORDER memory_order_acq_rel
#endif
#ifndef CNA_LINK_ORDER
#define CNA_LINK_ORDER memory_order_release
#endif
#ifndef CNA_WAIT_ORDER
#define CNA_WAIT_ORDER memory_order_acquire
#endif
#ifndef CNA_NEXT_ORDER
#define CNA_NEXT_ORDER memory_order_acquire
#endif
#ifndef CNA_DEQUEUE_ORDER
#define CNA_DEQUEUE_ORDER memory_order_release
#endif
#ifndef CNA_PASS_ORDER
#define CNA_PASS_ORDER memory_order_release
#endif

struct cna_node {
    _Atomic(struct cna_node *) next;
    atomic_uintptr_t turn; /* 0: wait; 1: enter; else enter, and this node is first of those skipped */
    struct cna_node *last; /* of the first node skipped: the last one */
    int socket;
};

struct cna {
    _Atomic(struct cna_node *) tail;
};

static inline void cna_lock(struct cna *l, struct cna_node *own, int socket)
{
    own->socket = socket;
    atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&own->turn, 0, memory_order_relaxed);
    struct cna_node *before = atomic_exchange_explicit(&l->tail, own, CNA_ENQUEUE_ORDER);
    if (before) {
        atomic_store_explicit(&before->next, own, CNA_LINK_ORDER);
        while (!atomic_load_explicit(&own->turn, CNA_WAIT_ORDER)) {
        }
    } else {
        atomic_store_explicit(&own->turn, 1, memory_order_relaxed);
    }
}

static inline void cna_pass(struct cna_node *to, uintptr_t turn)
{
    atomic_store_explicit(&to->turn, turn, CNA_PASS_ORDER);
}

/* The next thread of this socket, if there is one; the nodes before it move to the second queue, whose
   first node is then *skipped. */
static inline struct cna_node *cna_search(struct cna_node *own, struct cna_node *next,
                                          struct cna_node **skipped)
{
    struct cna_node *last = NULL, *here = next;
    while (here && here->socket != own->socket) {
        last = here;
        here = atomic_load_explicit(&here->next, CNA_NEXT_ORDER);
    }
    if (here && last) {
        if (*skipped)
            atomic_store_explicit(&(*skipped)->last->next, next, memory_order_relaxed);
        else
            *skipped = next;
        atomic_store_explicit(&last->next, NULL, memory_order_relaxed);
        (*skipped)->last = last;
    }
    return here;
}

static inline void cna_unlock(struct cna *l, struct cna_node *own)
{
    uintptr_t turn = atomic_load_explicit(&own->turn, memory_order_relaxed);
    struct cna_node *skipped = turn > 1 ? (struct cna_node *)turn : NULL;
    struct cna_node *next = atomic_load_explicit(&own->next, CNA_NEXT_ORDER), *near;
    if (!next) {
        struct cna_node *last = own;
        if (atomic_compare_exchange_strong_explicit(&l->tail, &last, skipped ? skipped->last : NULL,
                                                    CNA_DEQUEUE_ORDER, memory_order_relaxed)) {
            if (skipped)
                cna_pass(skipped, 1);
            return;
        }
        while (!(next = atomic_load_explicit(&own->next, CNA_NEXT_ORDER))) {
        }
    }
    if ((near = cna_search(own, next, &skipped))) {
        cna_pass(near, skipped ? (uintptr_t)skipped : 1);
    } else if (skipped) {
        atomic_store_explicit(&skipped->last->next, next, memory_order_relaxed);
        cna_pass(skipped, 1);
    } else {
        cna_pass(next, 1);
    }
}

#endif
