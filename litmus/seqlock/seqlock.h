/* A sequence lock: readers do not write; they read again if a writer was at work.

   Hans Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012. The data
   are relaxed atomics, since readers may read them while they are written. Writers exclude one
   another by the sequence number, which is odd while one of them writes.

     SEQLOCK_BEGIN_ORDER   read: first look at the number                   (acquire)
     SEQLOCK_READ_FENCE    read: fence before the second look               (acquire)
     SEQLOCK_TAKE_ORDER    write: compare-exchange to the odd number        (acquire)
     SEQLOCK_WRITE_FENCE   write: fence before the data                     (release)
     SEQLOCK_END_ORDER     write: store of the even number                  (release) */

#ifndef SEQLOCK_H
#define SEQLOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef SEQLOCK_BEGIN_ORDER
#define SEQLOCK_BEGIN_ORDER memory_order_acquire
#endif
#ifndef SEQLOCK_READ_FENCE
#define SEQLOCK_READ_FENCE memory_order_acquire
#endif
#ifndef SEQLOCK_TAKE_ORDER
#define SEQLOCK_TAKE_ORDER memory_order_acquire
#endif
#ifndef SEQLOCK_WRITE_FENCE
#define SEQLOCK_WRITE_FENCE memory_order_release
#endif
#ifndef SEQLOCK_END_ORDER
#define SEQLOCK_END_ORDER memory_order_release
#endif

struct seqlock {
    atomic_uint number;
};

/* Returns the number that seqlock_retry asks for. */
static inline unsigned seqlock_begin(struct seqlock *l)
{
    unsigned number;
    while ((number = atomic_load_explicit(&l->number, SEQLOCK_BEGIN_ORDER)) % 2) {
    }
    return number;
}

static inline bool seqlock_retry(struct seqlock *l, unsigned number)
{
    atomic_thread_fence(SEQLOCK_READ_FENCE);
    return atomic_load_explicit(&l->number, memory_order_relaxed) != number;
}

static inline void seqlock_write_begin(struct seqlock *l)
{
    unsigned number;
    do {
        number = atomic_load_explicit(&l->number, memory_order_relaxed);
    } while (number % 2
             || !atomic_compare_exchange_strong_explicit(&l->number, &number, number + 1,
                                                         SEQLOCK_TAKE_ORDER,
                                                         memory_order_relaxed));
    atomic_thread_fence(SEQLOCK_WRITE_FENCE);
}

static inline void seqlock_write_end(struct seqlock *l)
{
    unsigned number = atomic_load_explicit(&l->number, memory_order_relaxed);
    atomic_store_explicit(&l->number, number + 1, SEQLOCK_END_ORDER);
}

#endif
