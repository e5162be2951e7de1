/* A ring buffer for one producer and one consumer.

   Leslie Lamport, "Specifying concurrent program modules", TOPLAS 5(2), 1983; the memory orders are
   those of Linux, Documentation/core-api/circular-buffers.rst. Each side owns one index and reads the
   other's.

     SPSC_TAIL_ORDER        push: the element is there        (release)
     SPSC_SEE_TAIL_ORDER    pop: is there an element?         (acquire)
     SPSC_HEAD_ORDER        pop: the slot is free             (release)
     SPSC_SEE_HEAD_ORDER    push: is there a free slot?       (acquire) */

#ifndef SPSC_H
#define SPSC_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef SPSC_TAIL_ORDER
#define SPSC_TAIL_ORDER memory_order_release
#endif
#ifndef SPSC_SEE_TAIL_ORDER
#define SPSC_SEE_TAIL_ORDER memory_order_acquire
#endif
#ifndef SPSC_HEAD_ORDER
#define SPSC_HEAD_ORDER memory_order_release
#endif
#ifndef SPSC_SEE_HEAD_ORDER
#define SPSC_SEE_HEAD_ORDER memory_order_acquire
#endif
#ifndef SPSC_SIZE
#define SPSC_SIZE 2
#endif

struct spsc {
    atomic_uint head, tail;
    int slot[SPSC_SIZE];
};

/* False if the ring is full. */
static inline bool spsc_push(struct spsc *q, int value)
{
    unsigned tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&q->head, SPSC_SEE_HEAD_ORDER) == SPSC_SIZE)
        return false;
    q->slot[tail % SPSC_SIZE] = value;
    atomic_store_explicit(&q->tail, tail + 1, SPSC_TAIL_ORDER);
    return true;
}

/* False if the ring is empty. */
static inline bool spsc_pop(struct spsc *q, int *value)
{
    unsigned head = atomic_load_explicit(&q->head, memory_order_relaxed);
    if (atomic_load_explicit(&q->tail, SPSC_SEE_TAIL_ORDER) == head)
        return false;
    *value = q->slot[head % SPSC_SIZE];
    atomic_store_explicit(&q->head, head + 1, SPSC_HEAD_ORDER);
    return true;
}

#endif
