/* The push of the published queue, which never fails: into a full queue, it doubles the array under the
   lock and counts anew from 0 (LocalPush, the slow path).

   slot and mask are plain: thieves read them under the lock, and nobody but the owner reads them
   outside it.

     WSQ_GROW_NO_LOCK  if defined, the array is doubled without the lock */

#ifndef WSQ_GROW_H
#define WSQ_GROW_H

#include <stdlib.h>

#include "wsq.h"

/* For a queue that grows: before any other thread knows it. False: no memory. */
static inline bool wsq_allocate(struct wsq *q)
{
    q->slot = malloc(WSQ_SIZE * sizeof *q->slot);
    return q->slot != NULL;
}

/* Under the lock. */
static inline void wsq_double(struct wsq *q, int head, int count)
{
    int *slot = malloc(2 * ((size_t)q->mask + 1) * sizeof *slot);
    if (slot == NULL)
        abort();
    for (int i = 0; i < count; i++)
        slot[i] = q->slot[(head + i) & q->mask];
    free(q->slot);
    q->slot = slot;
    q->mask = 2 * q->mask + 1;
    atomic_store_explicit(&q->head, 0, memory_order_relaxed);
    atomic_store_explicit(&q->tail, count, memory_order_relaxed);
}

static inline void wsq_push_slow(struct wsq *q, int value)
{
#ifndef WSQ_GROW_NO_LOCK
    pthread_mutex_lock(&q->lock);
#endif
    int head = atomic_load_explicit(&q->head, memory_order_relaxed);
    int tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    if (tail - head >= q->mask) {
        wsq_double(q, head, tail - head);
        tail -= head;
    }
    q->slot[tail & q->mask] = value;
    atomic_store_explicit(&q->tail, tail + 1, WSQ_PUSH_TAIL_ORDER);
#ifndef WSQ_GROW_NO_LOCK
    pthread_mutex_unlock(&q->lock);
#endif
}

/* Owner only. */
static inline void wsq_push_growing(struct wsq *q, int value)
{
    if (!wsq_push(q, value))
        wsq_push_slow(q, value);
}

#endif
