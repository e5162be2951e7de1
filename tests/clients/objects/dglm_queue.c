/* S. Doherty, L. Groves, V. Luchangco, M. Moir, "Formal verification of a practical lock-free queue
   algorithm", FORTE 2004: the queue of Michael and Scott, in which a dequeue looks at the tail only
   after it has moved the head. DGLM_LINK_ORDER is the order in which a node is linked (release). */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef DGLM_LINK_ORDER
#define DGLM_LINK_ORDER memory_order_release
#endif

struct node {
    int value;
    struct node *_Atomic next;
};

static struct node dummy, nodes[16];
static atomic_int used;
static struct node *_Atomic head = &dummy, *_Atomic tail = &dummy;

static bool move(struct node *_Atomic *from, struct node *seen, struct node *to, memory_order order)
{
    return atomic_compare_exchange_strong_explicit(from, &seen, to, order, memory_order_relaxed);
}

void enqueue(int value)
{
    struct node *own = &nodes[atomic_fetch_add_explicit(&used, 1, memory_order_relaxed)];
    own->value = value;
    for (;;) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (next)
            move(&tail, last, next, memory_order_release);
        else if (move(&last->next, NULL, own, DGLM_LINK_ORDER)) {
            move(&tail, last, own, memory_order_release);
            return;
        }
    }
}

bool dequeue(int *value)
{
    for (;;) {
        struct node *first = atomic_load_explicit(&head, memory_order_acquire);
        struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);
        if (!next)
            return false;
        int found = next->value;
        if (!move(&head, first, next, memory_order_release))
            continue;
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        if (first == last)
            move(&tail, last, next, memory_order_release);
        *value = found;
        return true;
    }
}
