/* The queue of Michael and Scott: unbounded, for many producers and consumers.

   Maged Michael, Michael Scott, "Simple, fast, and practical non-blocking and blocking concurrent
   queue algorithms", PODC 1996. The last node is linked first and becomes the tail afterwards; whoever
   finds the tail behind moves it on. Nodes are not used again, so that their addresses need no
   counters.

     MS_TAIL_ORDER     push: read of the tail                               (acquire)
     MS_NEXT_ORDER     push: read of the link of the tail                   (acquire)
     MS_LINK_ORDER     push: the compare-exchange that links the node       (release)
     MS_SWING_ORDER    push, pop: the compare-exchange of the tail          (release)
     MS_HEAD_ORDER     pop: read of the head                                (acquire)
     MS_FIRST_ORDER    pop: read of the link of the head                    (acquire)
     MS_POP_ORDER      pop: the compare-exchange of the head                (release)
     MS_TORN           if defined, push links its node with a store */

#ifndef MS_H
#define MS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef MS_TAIL_ORDER
#define MS_TAIL_ORDER memory_order_acquire
#endif
#ifndef MS_NEXT_ORDER
#define MS_NEXT_ORDER memory_order_acquire
#endif
#ifndef MS_LINK_ORDER
#define MS_LINK_ORDER memory_order_release
#endif
#ifndef MS_SWING_ORDER
#define MS_SWING_ORDER memory_order_release
#endif
#ifndef MS_HEAD_ORDER
#define MS_HEAD_ORDER memory_order_acquire
#endif
#ifndef MS_FIRST_ORDER
#define MS_FIRST_ORDER memory_order_acquire
#endif
#ifndef MS_POP_ORDER
#define MS_POP_ORDER memory_order_release
#endif

struct ms_node {
    _Atomic(struct ms_node *) next;
    int value;
};

struct ms {
    _Atomic(struct ms_node *) head, tail; /* the node before the first value, and the last node */
};

static inline void ms_swing(struct ms *q, struct ms_node *from, struct ms_node *to)
{
    atomic_compare_exchange_strong_explicit(&q->tail, &from, to, MS_SWING_ORDER,
                                            memory_order_relaxed);
}

static inline bool ms_link(struct ms_node *last, struct ms_node *node)
{
#ifdef MS_TORN
    atomic_store_explicit(&last->next, node, MS_LINK_ORDER);
    return true;
#else
    struct ms_node *none = NULL;
    return atomic_compare_exchange_strong_explicit(&last->next, &none, node, MS_LINK_ORDER,
                                                   memory_order_relaxed);
#endif
}

static inline void ms_push(struct ms *q, struct ms_node *node, int value)
{
    node->value = value;
    atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
    for (;;) {
        struct ms_node *tail = atomic_load_explicit(&q->tail, MS_TAIL_ORDER);
        struct ms_node *next = atomic_load_explicit(&tail->next, MS_NEXT_ORDER);
        if (next) {
            ms_swing(q, tail, next);
        } else if (ms_link(tail, node)) {
            ms_swing(q, tail, node);
            return;
        }
    }
}

/* False if the queue is empty. */
static inline bool ms_pop(struct ms *q, int *value)
{
    for (;;) {
        struct ms_node *head = atomic_load_explicit(&q->head, MS_HEAD_ORDER);
        struct ms_node *tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
        struct ms_node *next = atomic_load_explicit(&head->next, MS_FIRST_ORDER);
        if (!next)
            return false;
        if (head == tail)
            ms_swing(q, tail, next);
        int found = next->value;
        if (atomic_compare_exchange_strong_explicit(&q->head, &head, next, MS_POP_ORDER,
                                                    memory_order_relaxed)) {
            *value = found;
            return true;
        }
    }
}

#endif
