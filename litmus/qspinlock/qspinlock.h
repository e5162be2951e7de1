/* The queued spinlock of Linux: one word with a lock bit, a pending bit and the tail of an MCS queue.

   Peter Zijlstra, Waiman Long, kernel/locking/qspinlock.c, Linux 4.2, 2015; its design is described
   there. The first thread to contend waits at the word itself, announced by the pending bit; further
   ones wait at nodes of their own, and the first of these waits for the word to become free. Here
   each thread has one node, and the word is accessed as a whole.

   The tail is published after the node is initialised (release). Who enters acquires what the last
   one released in the word. The first in the queue takes the lock before it lets the next one look at
   the word (release, acquire), or both may find it free.

     QSPIN_TAKE_ORDER     lock: compare-exchange of the free word             (acquire)
     QSPIN_PENDING_ORDER  lock: the pending bit is set                        (relaxed)
     QSPIN_OWN_ORDER      lock: wait, pending, for the lock bit to clear      (acquire)
     QSPIN_TAIL_ORDER     lock: the own node becomes the tail                 (acq_rel)
     QSPIN_LINK_ORDER     lock: link from the predecessor                     (release)
     QSPIN_NODE_ORDER     lock: wait at the own node                          (acquire)
     QSPIN_HEAD_ORDER     lock: the first in the queue waits for the word     (acquire)
     QSPIN_NEXT_ORDER     lock: wait for the successor's link                 (acquire)
     QSPIN_PASS_ORDER     lock: the successor becomes the first               (release)
     QSPIN_UNLOCK_ORDER   unlock: the lock bit is cleared                     (release)
     QSPIN_NO_PENDING     if defined, every thread that finds the lock taken joins the queue */

#ifndef QSPINLOCK_H
#define QSPINLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef QSPIN_TAKE_ORDER
#define QSPIN_TAKE_ORDER memory_order_acquire
#endif
#ifndef QSPIN_PENDING_ORDER
#define QSPIN_PENDING_ORDER memory_order_relaxed
#endif
#ifndef QSPIN_OWN_ORDER
#define QSPIN_OWN_ORDER memory_order_acquire
#endif
#ifndef QSPIN_TAIL_ORDER
#define QSPIN_TAIL_ORDER memory_order_acq_rel
#endif
#ifndef QSPIN_LINK_ORDER
#define QSPIN_LINK_ORDER memory_order_release
#endif
#ifndef QSPIN_NODE_ORDER
#define QSPIN_NODE_ORDER memory_order_acquire
#endif
#ifndef QSPIN_HEAD_ORDER
#define QSPIN_HEAD_ORDER memory_order_acquire
#endif
#ifndef QSPIN_NEXT_ORDER
#define QSPIN_NEXT_ORDER memory_order_acquire
#endif
#ifndef QSPIN_PASS_ORDER
#define QSPIN_PASS_ORDER memory_order_release
#endif
#ifndef QSPIN_UNLOCK_ORDER
#define QSPIN_UNLOCK_ORDER memory_order_release
#endif
#ifndef QSPIN_THREADS
#define QSPIN_THREADS 4
#endif

enum { QSPIN_LOCKED = 1, QSPIN_PENDING = 1 << 8, QSPIN_TAIL = 1 << 16 };

struct qspin_node {
    _Atomic(struct qspin_node *) next;
    atomic_bool waits;
};

struct qspin {
    atomic_uint word; /* lock bit, pending bit, number of the last node from 1 */
    struct qspin_node node[QSPIN_THREADS];
};

/* The part of the word that belongs to the queue. */
static inline unsigned qspin_tail(unsigned word)
{
    return word / QSPIN_TAIL;
}

/* The thread is the first in the queue if it finds no tail; else returns the predecessor. */
static inline struct qspin_node *qspin_enqueue(struct qspin *l, unsigned thread)
{
    unsigned now, wanted;
    do {
        now = atomic_load_explicit(&l->word, memory_order_relaxed);
        wanted = now % QSPIN_TAIL + (thread + 1) * QSPIN_TAIL;
    } while (!atomic_compare_exchange_strong_explicit(&l->word, &now, wanted, QSPIN_TAIL_ORDER,
                                                      memory_order_relaxed));
    return qspin_tail(now) ? &l->node[qspin_tail(now) - 1] : NULL;
}

static inline void qspin_queue(struct qspin *l, unsigned thread)
{
    struct qspin_node *own = &l->node[thread], *before, *after;
    unsigned now;
    atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&own->waits, true, memory_order_relaxed);
    if ((before = qspin_enqueue(l, thread))) {
        atomic_store_explicit(&before->next, own, QSPIN_LINK_ORDER);
        while (atomic_load_explicit(&own->waits, QSPIN_NODE_ORDER)) {
        }
    }
    while ((now = atomic_load_explicit(&l->word, QSPIN_HEAD_ORDER)) % QSPIN_TAIL) {
    }
    if (qspin_tail(now) == thread + 1
        && atomic_compare_exchange_strong_explicit(&l->word, &now, QSPIN_LOCKED,
                                                   memory_order_relaxed, memory_order_relaxed))
        return;
    atomic_fetch_or_explicit(&l->word, QSPIN_LOCKED, memory_order_relaxed);
    while (!(after = atomic_load_explicit(&own->next, QSPIN_NEXT_ORDER))) {
    }
    atomic_store_explicit(&after->waits, false, QSPIN_PASS_ORDER);
}

static inline void qspin_lock(struct qspin *l, unsigned thread)
{
    unsigned now = 0;
    if (atomic_compare_exchange_strong_explicit(&l->word, &now, QSPIN_LOCKED, QSPIN_TAKE_ORDER,
                                                memory_order_relaxed))
        return;
#ifndef QSPIN_NO_PENDING
    if (now == QSPIN_LOCKED) {
        now = atomic_fetch_or_explicit(&l->word, QSPIN_PENDING, QSPIN_PENDING_ORDER);
        if (now / QSPIN_PENDING == 0) {
            while (atomic_load_explicit(&l->word, QSPIN_OWN_ORDER) & QSPIN_LOCKED) {
            }
            atomic_fetch_sub_explicit(&l->word, QSPIN_PENDING - QSPIN_LOCKED,
                                      memory_order_relaxed);
            return;
        }
        if (!(now & QSPIN_PENDING))
            atomic_fetch_and_explicit(&l->word, ~(unsigned)QSPIN_PENDING, memory_order_relaxed);
    }
#endif
    qspin_queue(l, thread);
}

static inline void qspin_unlock(struct qspin *l)
{
    atomic_fetch_sub_explicit(&l->word, QSPIN_LOCKED, QSPIN_UNLOCK_ORDER);
}

#endif
