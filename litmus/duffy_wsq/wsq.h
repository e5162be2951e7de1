/* A work-stealing queue. Its owner pushes and pops at the tail without a lock; thieves take from the
   head, one at a time, under a lock.

   Joe Duffy, "Building a custom thread pool", part 2: a work stealing queue, weblog, August 2008
   (LocalPush, LocalPop, TrySteal). A push into a full queue fails; wsq_grow.h has the author's, which
   grows the array, and wsq_remove.h the removal of part 3.

   head and tail count up, and `index & mask` finds the slot. One slot always stays free: the owner may
   see that a thief has claimed a slot before the thief has read it, and must not push into it. With
   that, plain slots are free of races.

   Orders. In .NET, loads of head and tail are acquire, stores are release, and Interlocked.Exchange
   is a full fence. Here:

   - a pop moves tail and looks at head, a steal moves head and looks at tail, and one must see the
     other. In C11 even a seq_cst exchange does not hold back a later acquire load of something else, so
     the loads that follow the two exchanges are seq_cst too. On x86 that costs nothing more;
   - tail is stored with release after the slot is written, and a thief reads tail before the slot;
   - a push reads head with acquire before it reuses a slot that a thief has read;
   - the owner alone moves tail, and under the lock nobody else moves head: such loads are relaxed, and
     so is a pop's first look at head, which only saves work on an empty queue.

   Each order that matters has a macro:

     WSQ_PUSH_HEAD_ORDER      push: load of head                    (acquire)
     WSQ_PUSH_TAIL_ORDER      push: store of tail                   (release)
     WSQ_POP_EXCHANGE_ORDER   pop: exchange of tail                 (seq_cst)
     WSQ_POP_STORE_ORDER      pop: if defined, a store instead of the exchange
     WSQ_POP_HEAD_ORDER       pop: load of head after the exchange  (seq_cst)
     WSQ_STEAL_EXCHANGE_ORDER steal: exchange of head               (seq_cst)
     WSQ_STEAL_STORE_ORDER    steal: if defined, a store instead of the exchange
     WSQ_STEAL_TAIL_ORDER     steal: load of tail                   (seq_cst) */

#ifndef WSQ_H
#define WSQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef WSQ_SIZE
#define WSQ_SIZE 4 /* a power of two; the queue holds one element less */
#endif

#ifndef WSQ_PUSH_HEAD_ORDER
#define WSQ_PUSH_HEAD_ORDER memory_order_acquire
#endif
#ifndef WSQ_PUSH_TAIL_ORDER
#define WSQ_PUSH_TAIL_ORDER memory_order_release
#endif
#ifndef WSQ_POP_EXCHANGE_ORDER
#define WSQ_POP_EXCHANGE_ORDER memory_order_seq_cst
#endif
#ifndef WSQ_POP_HEAD_ORDER
#define WSQ_POP_HEAD_ORDER memory_order_seq_cst
#endif
#ifndef WSQ_STEAL_EXCHANGE_ORDER
#define WSQ_STEAL_EXCHANGE_ORDER memory_order_seq_cst
#endif
#ifndef WSQ_STEAL_TAIL_ORDER
#define WSQ_STEAL_TAIL_ORDER memory_order_seq_cst
#endif

struct wsq {
    atomic_int head; /* next element to steal */
    atomic_int tail; /* next free slot */
    pthread_mutex_t lock;
    int *slot;
    int mask; /* number of slots - 1 */
};

#define WSQ_INIT                                                                                 \
    {                                                                                            \
        .lock = PTHREAD_MUTEX_INITIALIZER, .slot = (int[WSQ_SIZE]){0}, .mask = WSQ_SIZE - 1      \
    }

/* Owner only. False when the queue is full. */
static inline bool wsq_push(struct wsq *q, int value)
{
    int tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    if (tail >= atomic_load_explicit(&q->head, WSQ_PUSH_HEAD_ORDER) + q->mask)
        return false;
    q->slot[tail & q->mask] = value;
    atomic_store_explicit(&q->tail, tail + 1, WSQ_PUSH_TAIL_ORDER);
    return true;
}

/* The head has passed the tail: a thief was faster, or takes its claim back. The lock tells. */
static inline bool wsq_pop_last(struct wsq *q, int tail, int *value)
{
    pthread_mutex_lock(&q->lock);
    bool taken = atomic_load_explicit(&q->head, memory_order_relaxed) <= tail;
    if (taken)
        *value = q->slot[tail & q->mask];
    else
        atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
    pthread_mutex_unlock(&q->lock);
    return taken;
}

/* Owner only: takes the newest element. False when the queue is empty. */
static inline bool wsq_pop(struct wsq *q, int *value)
{
    int tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    if (atomic_load_explicit(&q->head, memory_order_relaxed) >= tail)
        return false;
    tail--;
#ifdef WSQ_POP_STORE_ORDER
    atomic_store_explicit(&q->tail, tail, WSQ_POP_STORE_ORDER);
#else
    atomic_exchange_explicit(&q->tail, tail, WSQ_POP_EXCHANGE_ORDER);
#endif
    if (atomic_load_explicit(&q->head, WSQ_POP_HEAD_ORDER) > tail)
        return wsq_pop_last(q, tail, value);
    *value = q->slot[tail & q->mask];
    return true;
}

/* Any thread: takes the oldest element. False when there is none, or the owner was faster. */
static inline bool wsq_try_steal(struct wsq *q, int *value)
{
    pthread_mutex_lock(&q->lock);
    int head = atomic_load_explicit(&q->head, memory_order_relaxed);
#ifdef WSQ_STEAL_STORE_ORDER
    atomic_store_explicit(&q->head, head + 1, WSQ_STEAL_STORE_ORDER);
#else
    atomic_exchange_explicit(&q->head, head + 1, WSQ_STEAL_EXCHANGE_ORDER);
#endif
    bool taken = head < atomic_load_explicit(&q->tail, WSQ_STEAL_TAIL_ORDER);
    if (taken)
        *value = q->slot[head & q->mask];
    else
        atomic_store_explicit(&q->head, head, memory_order_release);
    pthread_mutex_unlock(&q->lock);
    return taken;
}

#endif
