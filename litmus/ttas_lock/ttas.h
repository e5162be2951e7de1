/* A test-and-test-and-set lock: wait until the lock seems free, and only then try to take it.

   Larry Rudolph, Zary Segall, "Dynamic decentralized cache schemes for MIMD parallel processors",
   ISCA 1984.

     TTAS_TAKE_ORDER     lock: the exchange           (acquire)
     TTAS_RELEASE_ORDER  unlock: the store            (release)
     TTAS_TORN           if defined, the lock is taken with a store after the test */

#ifndef TTAS_H
#define TTAS_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef TTAS_TAKE_ORDER
#define TTAS_TAKE_ORDER memory_order_acquire
#endif
#ifndef TTAS_RELEASE_ORDER
#define TTAS_RELEASE_ORDER memory_order_release
#endif

struct ttas {
    atomic_bool taken;
};

static inline bool ttas_try(struct ttas *l)
{
#ifdef TTAS_TORN
    atomic_store_explicit(&l->taken, true, memory_order_seq_cst);
    return true;
#else
    return !atomic_exchange_explicit(&l->taken, true, TTAS_TAKE_ORDER);
#endif
}

static inline void ttas_lock(struct ttas *l)
{
    do {
        while (atomic_load_explicit(&l->taken, memory_order_relaxed)) {
        }
    } while (!ttas_try(l));
}

static inline void ttas_unlock(struct ttas *l)
{
    atomic_store_explicit(&l->taken, false, TTAS_RELEASE_ORDER);
}

#endif
