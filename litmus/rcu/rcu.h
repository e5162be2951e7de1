/* User-level read-copy update, general-purpose, with memory barriers on both sides.

   M. Desnoyers, P. E. McKenney, A. S. Stern, M. R. Dagenais, J. Walpole, "User-level implementations of
   read-copy update", IEEE TPDS 23(2), 2012. A reader announces the phase in which it entered. A grace
   period changes the phase and waits for the readers of the old one, twice: a reader may have read the
   phase long before it announces it, and appear to belong to the new one. Announcing, then reading,
   meets publishing, then looking at the announcements: store buffering, so that both sides need a
   seq_cst fence. Publishing itself is a release, and dereferencing an acquire, or a consume. The
   announcement is a release too: in C++20 it does not continue the release sequence that leaving
   begins, and the updater that reads it has to see what was read before leaving.

     RCU_ASSIGN_ORDER       the pointer to a new object is stored      (release)
     RCU_DEREFERENCE_ORDER  the pointer is loaded                      (acquire)
     RCU_ENTER_ORDER        the announcement                           (release)
     RCU_LEAVE_ORDER        the announcement is withdrawn              (release)
     RCU_WAIT_ORDER         the wait for a reader                      (acquire)
     RCU_NO_ENTER_FENCE     if defined, no fence after the announcement
     RCU_NO_WAIT_FENCE      if defined, no fence before the wait
     RCU_PHASES             how often a grace period changes the phase (2) */

#ifndef RCU_H
#define RCU_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef RCU_ASSIGN_ORDER
#define RCU_ASSIGN_ORDER memory_order_release
#endif
#ifndef RCU_DEREFERENCE_ORDER
#define RCU_DEREFERENCE_ORDER memory_order_acquire
#endif
#ifndef RCU_ENTER_ORDER
#define RCU_ENTER_ORDER memory_order_release
#endif
#ifndef RCU_LEAVE_ORDER
#define RCU_LEAVE_ORDER memory_order_release
#endif
#ifndef RCU_WAIT_ORDER
#define RCU_WAIT_ORDER memory_order_acquire
#endif
#ifndef RCU_PHASES
#define RCU_PHASES 2
#endif
#ifndef RCU_READERS
#define RCU_READERS 1
#endif

enum { RCU_OUTSIDE, RCU_INSIDE = 1, RCU_PHASE = 2 };

struct rcu {
    atomic_uint phase; /* RCU_INSIDE, with or without RCU_PHASE */
    atomic_uint reader[RCU_READERS];
};

static inline void rcu_init(struct rcu *r)
{
    atomic_init(&r->phase, RCU_INSIDE);
}

static inline void rcu_read_lock(struct rcu *r, int own)
{
    unsigned phase = atomic_load_explicit(&r->phase, memory_order_relaxed);
    atomic_store_explicit(&r->reader[own], phase, RCU_ENTER_ORDER);
#ifndef RCU_NO_ENTER_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void rcu_read_unlock(struct rcu *r, int own)
{
    atomic_store_explicit(&r->reader[own], RCU_OUTSIDE, RCU_LEAVE_ORDER);
}

/* Returns when every reader that was inside at the call has left. One thread at a time calls it. */
static inline void rcu_synchronize(struct rcu *r)
{
    for (int i = 0; i < RCU_PHASES; i++) {
        unsigned phase = atomic_load_explicit(&r->phase, memory_order_relaxed) ^ RCU_PHASE;
        atomic_store_explicit(&r->phase, phase, memory_order_relaxed);
#ifndef RCU_NO_WAIT_FENCE
        atomic_thread_fence(memory_order_seq_cst);
#endif
        for (int own = 0; own < RCU_READERS; own++) {
            unsigned seen;
            do
                seen = atomic_load_explicit(&r->reader[own], RCU_WAIT_ORDER);
            while (seen != RCU_OUTSIDE && seen != phase);
        }
    }
}

#endif
