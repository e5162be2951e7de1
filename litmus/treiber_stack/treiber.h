/* Treiber's stack: a linked list whose first node is replaced by compare-exchange.

   R. Kent Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986. A push publishes
   its node (release); a pop reads the node that it takes (acquire). A pop that only leaves what was
   there publishes nothing. A node may not be used again while a pop may still hold its address.

     TREIBER_PUSH_ORDER  push: the compare-exchange             (release)
     TREIBER_TOP_ORDER   pop: the read of the first node        (acquire)
     TREIBER_POP_ORDER   pop: the compare-exchange              (relaxed) */

#ifndef TREIBER_H
#define TREIBER_H

#include <stdatomic.h>
#include <stddef.h>

#ifndef TREIBER_PUSH_ORDER
#define TREIBER_PUSH_ORDER memory_order_release
#endif
#ifndef TREIBER_TOP_ORDER
#define TREIBER_TOP_ORDER memory_order_acquire
#endif
#ifndef TREIBER_POP_ORDER
#define TREIBER_POP_ORDER memory_order_relaxed
#endif

struct treiber_node {
    struct treiber_node *next;
    int value;
};

struct treiber {
    _Atomic(struct treiber_node *) top;
};

static inline void treiber_push(struct treiber *s, struct treiber_node *node)
{
    struct treiber_node *top = atomic_load_explicit(&s->top, memory_order_relaxed);
    do {
        node->next = top;
    } while (!atomic_compare_exchange_strong_explicit(&s->top, &top, node, TREIBER_PUSH_ORDER,
                                                      memory_order_relaxed));
}

/* NULL if the stack is empty. */
static inline struct treiber_node *treiber_pop(struct treiber *s)
{
    struct treiber_node *top;
    do {
        top = atomic_load_explicit(&s->top, TREIBER_TOP_ORDER);
    } while (top
             && !atomic_compare_exchange_strong_explicit(&s->top, &top, top->next,
                                                         TREIBER_POP_ORDER, memory_order_relaxed));
    return top;
}

#endif
