/* An unbounded queue for many producers and one consumer: a linked list with an exchange per push.

   Dmitry Vyukov, "Non-intrusive MPSC node-based queue", 1024cores.net, 2010. A producer first becomes
   the last node and then links itself from the node before; until then the consumer finds the queue
   empty, although later pushes may be complete.

     MPSC_EXCHANGE_ORDER  push: exchange of the last node           (acq_rel)
     MPSC_LINK_ORDER      push: link from the node before           (release)
     MPSC_NEXT_ORDER      pop: read of the link                     (acquire) */

#ifndef MPSC_H
#define MPSC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef MPSC_EXCHANGE_ORDER
#define MPSC_EXCHANGE_ORDER memory_order_acq_rel
#endif
#ifndef MPSC_LINK_ORDER
#define MPSC_LINK_ORDER memory_order_release
#endif
#ifndef MPSC_NEXT_ORDER
#define MPSC_NEXT_ORDER memory_order_acquire
#endif

struct mpsc_node {
    _Atomic(struct mpsc_node *) next;
    int value;
};

struct mpsc {
    _Atomic(struct mpsc_node *) last;
    struct mpsc_node *first; /* the consumer's; its value was popped */
};

static inline void mpsc_push(struct mpsc *q, struct mpsc_node *node, int value)
{
    node->value = value;
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    struct mpsc_node *before = atomic_exchange_explicit(&q->last, node, MPSC_EXCHANGE_ORDER);
    atomic_store_explicit(&before->next, node, MPSC_LINK_ORDER);
}

/* False if the queue is empty. */
static inline bool mpsc_pop(struct mpsc *q, int *value)
{
    struct mpsc_node *next = atomic_load_explicit(&q->first->next, MPSC_NEXT_ORDER);
    if (!next)
        return false;
    *value = next->value;
    q->first = next;
    return true;
}

#endif
