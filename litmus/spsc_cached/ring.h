/* A ring for one producer and one consumer, each of which caches the other's index.

   N. M. Lê, A. Guatto, A. Cohen, A. Pop, "Correct and efficient bounded FIFO queues", SBAC-PAD 2013:
   WeakRB, here with one element per call. A side reads the other's index only when its cached one says
   that the ring is full or empty, so that most calls touch no line of the other side. What the cached
   index permits was acquired when it was read.

     RING_BACK_ORDER        push: the element is there          (release)
     RING_SEE_BACK_ORDER    pop: is there an element?           (acquire)
     RING_FRONT_ORDER       pop: the slot is free               (release)
     RING_SEE_FRONT_ORDER   push: is there a free slot?         (acquire)
     RING_TRUSTS_CACHE      if defined, what was read again is not compared again */

#ifndef RING_H
#define RING_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef RING_BACK_ORDER
#define RING_BACK_ORDER memory_order_release
#endif
#ifndef RING_SEE_BACK_ORDER
#define RING_SEE_BACK_ORDER memory_order_acquire
#endif
#ifndef RING_FRONT_ORDER
#define RING_FRONT_ORDER memory_order_release
#endif
#ifndef RING_SEE_FRONT_ORDER
#define RING_SEE_FRONT_ORDER memory_order_acquire
#endif
#ifndef RING_SIZE
#define RING_SIZE 2
#endif

struct ring {
    atomic_uint front; /* written by the consumer */
    unsigned cached_back;
    atomic_uint back; /* written by the producer */
    unsigned cached_front;
    int slot[RING_SIZE];
};

/* False if the ring is full. */
static inline bool ring_push(struct ring *q, int value)
{
    unsigned back = atomic_load_explicit(&q->back, memory_order_relaxed);
    if (back - q->cached_front == RING_SIZE) {
        unsigned front = atomic_load_explicit(&q->front, RING_SEE_FRONT_ORDER);
        q->cached_front = front;
#ifndef RING_TRUSTS_CACHE
        if (back - front == RING_SIZE)
            return false;
#endif
    }
    q->slot[back % RING_SIZE] = value;
    atomic_store_explicit(&q->back, back + 1, RING_BACK_ORDER);
    return true;
}

/* False if the ring is empty. */
static inline bool ring_pop(struct ring *q, int *value)
{
    unsigned front = atomic_load_explicit(&q->front, memory_order_relaxed);
    if (q->cached_back == front) {
        unsigned back = atomic_load_explicit(&q->back, RING_SEE_BACK_ORDER);
        q->cached_back = back;
#ifndef RING_TRUSTS_CACHE
        if (back == front)
            return false;
#endif
    }
    *value = q->slot[front % RING_SIZE];
    atomic_store_explicit(&q->front, front + 1, RING_FRONT_ORDER);
    return true;
}

#endif
