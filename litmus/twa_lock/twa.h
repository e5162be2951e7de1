/* A ticket lock whose waiters that are not next wait at an array, so that few threads read the number
   that is served.

   Dave Dice, Alex Kogan, "TWA: ticket locks augmented with a waiting array", Euro-Par 2019. A thread
   that is more than TWA_NEAR tickets away waits until the slot of its ticket changes. Who unlocks
   first serves the next number and then changes the slot of the ticket that comes near; a waiter reads
   the slot first and then the number, so it cannot miss both.

     TWA_WAIT_ORDER    lock: wait for the own number                      (acquire)
     TWA_SLOT_ORDER    lock: first read of the slot                       (acquire)
     TWA_SERVE_ORDER   unlock: serve the next number                      (release)
     TWA_NOTIFY_ORDER  unlock: change the slot                            (release)
     TWA_LOOK_FIRST    if defined, a waiter reads the number before the slot */

#ifndef TWA_H
#define TWA_H

#include <stdatomic.h>

#ifndef TWA_WAIT_ORDER
#define TWA_WAIT_ORDER memory_order_acquire
#endif
#ifndef TWA_SLOT_ORDER
#define TWA_SLOT_ORDER memory_order_acquire
#endif
#ifndef TWA_SERVE_ORDER
#define TWA_SERVE_ORDER memory_order_release
#endif
#ifndef TWA_NOTIFY_ORDER
#define TWA_NOTIFY_ORDER memory_order_release
#endif
#ifndef TWA_SLOTS
#define TWA_SLOTS 2
#endif

enum { TWA_NEAR = 1 };

struct twa {
    atomic_uint next;
    atomic_uint served;
    atomic_uint slot[TWA_SLOTS];
};

/* Waits until a ticket is near. */
static inline void twa_approach(struct twa *l, unsigned mine)
{
    atomic_uint *slot = &l->slot[mine % TWA_SLOTS];
    for (;;) {
#ifdef TWA_LOOK_FIRST
        unsigned served = atomic_load_explicit(&l->served, TWA_SLOT_ORDER);
        unsigned seen = atomic_load_explicit(slot, memory_order_relaxed);
#else
        unsigned seen = atomic_load_explicit(slot, TWA_SLOT_ORDER);
        unsigned served = atomic_load_explicit(&l->served, memory_order_relaxed);
#endif
        if (mine - served <= TWA_NEAR)
            return;
        while (atomic_load_explicit(slot, memory_order_relaxed) == seen) {
        }
    }
}

static inline void twa_lock(struct twa *l)
{
    unsigned mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    unsigned served = atomic_load_explicit(&l->served, TWA_WAIT_ORDER);
    if (served == mine)
        return;
    if (mine - served > TWA_NEAR)
        twa_approach(l, mine);
    while (atomic_load_explicit(&l->served, TWA_WAIT_ORDER) != mine) {
    }
}

static inline void twa_unlock(struct twa *l)
{
    unsigned next = atomic_load_explicit(&l->served, memory_order_relaxed) + 1;
    atomic_store_explicit(&l->served, next, TWA_SERVE_ORDER);
    atomic_fetch_add_explicit(&l->slot[(next + TWA_NEAR) % TWA_SLOTS], 1, TWA_NOTIFY_ORDER);
}

#endif
