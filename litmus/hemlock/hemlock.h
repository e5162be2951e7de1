/* Hemlock: a queue lock with one word per thread, for all the locks that the thread holds.

   Dave Dice, Alex Kogan, "Hemlock: compact and scalable mutual exclusion", SPAA 2021.

   A thread that leaves writes the lock's address to its own word; its successor takes over when it
   reads the address there, and clears the word. The thread that leaves waits for that, since the
   successor looks at its word.

     HEMLOCK_ENQUEUE_ORDER  lock: exchange of the tail                (acquire)
     HEMLOCK_WAIT_ORDER     lock: wait for the predecessor's word     (acquire)
     HEMLOCK_CLEAR_ORDER    lock: clear the predecessor's word        (relaxed)
     HEMLOCK_DEQUEUE_ORDER  unlock: the tail is set to null           (release)
     HEMLOCK_PASS_ORDER     unlock: write the lock to the own word    (release) */

#ifndef HEMLOCK_H
#define HEMLOCK_H

#include <stdatomic.h>
#include <stddef.h>

#ifndef HEMLOCK_ENQUEUE_ORDER
#define HEMLOCK_ENQUEUE_ORDER memory_order_acquire
#endif
#ifndef HEMLOCK_WAIT_ORDER
#define HEMLOCK_WAIT_ORDER memory_order_acquire
#endif
#ifndef HEMLOCK_CLEAR_ORDER
#define HEMLOCK_CLEAR_ORDER memory_order_relaxed
#endif
#ifndef HEMLOCK_DEQUEUE_ORDER
#define HEMLOCK_DEQUEUE_ORDER memory_order_release
#endif
#ifndef HEMLOCK_PASS_ORDER
#define HEMLOCK_PASS_ORDER memory_order_release
#endif

struct hemlock_thread {
    _Atomic(struct hemlock *) grant;
};

struct hemlock {
    _Atomic(struct hemlock_thread *) tail;
};

static inline void hemlock_lock(struct hemlock *l, struct hemlock_thread *own)
{
    struct hemlock_thread *before = atomic_exchange_explicit(&l->tail, own, HEMLOCK_ENQUEUE_ORDER);
    if (before) {
        while (atomic_load_explicit(&before->grant, HEMLOCK_WAIT_ORDER) != l) {
        }
        atomic_store_explicit(&before->grant, NULL, HEMLOCK_CLEAR_ORDER);
    }
}

static inline void hemlock_unlock(struct hemlock *l, struct hemlock_thread *own)
{
    struct hemlock_thread *last = own;
    if (atomic_compare_exchange_strong_explicit(&l->tail, &last, NULL, HEMLOCK_DEQUEUE_ORDER,
                                                memory_order_relaxed))
        return;
    atomic_store_explicit(&own->grant, l, HEMLOCK_PASS_ORDER);
    while (atomic_load_explicit(&own->grant, memory_order_relaxed)) {
    }
}

#endif
