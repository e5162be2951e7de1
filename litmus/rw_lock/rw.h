/* A read-write lock in one word: the number of readers, and a bit for a writer.

   The form of the rwlock of libvsync (Oberhauser et al., "VSync", ASPLOS 2021) and of many kernels: a
   reader announces itself by an addition; where a writer is inside, it takes that back, waits and
   tries again. A writer enters when nobody is inside.

     RW_READ_ORDER     read lock: the addition                (acquire)
     RW_LEAVE_ORDER    read unlock: the subtraction           (release)
     RW_WRITE_ORDER    write lock: the compare-exchange       (acquire)
     RW_RELEASE_ORDER  write unlock: clear the writer's bit   (release)
     RW_IMPATIENT      if defined, a reader that found a writer does not check again */

#ifndef RW_H
#define RW_H

#include <stdatomic.h>

#ifndef RW_READ_ORDER
#define RW_READ_ORDER memory_order_acquire
#endif
#ifndef RW_LEAVE_ORDER
#define RW_LEAVE_ORDER memory_order_release
#endif
#ifndef RW_WRITE_ORDER
#define RW_WRITE_ORDER memory_order_acquire
#endif
#ifndef RW_RELEASE_ORDER
#define RW_RELEASE_ORDER memory_order_release
#endif

enum { RW_WRITER = 1 << 30 };

struct rw {
    atomic_uint state;
};

static inline void rw_read_lock(struct rw *l)
{
    while (atomic_fetch_add_explicit(&l->state, 1, RW_READ_ORDER) & RW_WRITER) {
        atomic_fetch_sub_explicit(&l->state, 1, memory_order_relaxed);
        while (atomic_load_explicit(&l->state, memory_order_relaxed) & RW_WRITER) {
        }
#ifdef RW_IMPATIENT
        atomic_fetch_add_explicit(&l->state, 1, RW_READ_ORDER);
        return;
#endif
    }
}

static inline void rw_read_unlock(struct rw *l)
{
    atomic_fetch_sub_explicit(&l->state, 1, RW_LEAVE_ORDER);
}

static inline void rw_write_lock(struct rw *l)
{
    unsigned nobody;
    do {
        nobody = 0;
    } while (!atomic_compare_exchange_strong_explicit(&l->state, &nobody, RW_WRITER,
                                                      RW_WRITE_ORDER, memory_order_relaxed));
}

static inline void rw_write_unlock(struct rw *l)
{
    atomic_fetch_sub_explicit(&l->state, RW_WRITER, RW_RELEASE_ORDER);
}

#endif
