/* Peterson's mutual exclusion for two threads.

   Gary Peterson, "Myths about the mutual exclusion problem", Information Processing Letters 12(3), 1981.
   The proof assumes sequential consistency. In C11 it suffices that the turn is exchanged: who comes
   second reads there what the first has written before, its flag. A store of the turn is not enough,
   not with a seq_cst fence after it either: who comes first in the order of the fences need not come
   first in that of the turn, and misses the other's flag.

     PETERSON_TURN_ORDER    lock: exchange of the turn          (acq_rel)
     PETERSON_SEE_ORDER     lock: the other's flag, the turn    (acquire)
     PETERSON_LEAVE_ORDER   unlock: the flag                    (release)
     PETERSON_STORE         if defined, the turn is stored, and a seq_cst fence follows
     PETERSON_TURN_FIRST    if defined, the turn is given away before the flag is set */

#ifndef PETERSON_H
#define PETERSON_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef PETERSON_TURN_ORDER
#define PETERSON_TURN_ORDER memory_order_acq_rel
#endif
#ifndef PETERSON_SEE_ORDER
#define PETERSON_SEE_ORDER memory_order_acquire
#endif
#ifndef PETERSON_LEAVE_ORDER
#define PETERSON_LEAVE_ORDER memory_order_release
#endif

struct peterson {
    atomic_bool wants[2];
    atomic_int turn;
};

static inline void peterson_give(struct peterson *l, int own)
{
#ifdef PETERSON_STORE
    atomic_store_explicit(&l->turn, 1 - own, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
#else
    atomic_exchange_explicit(&l->turn, 1 - own, PETERSON_TURN_ORDER);
#endif
}

/* `own` is 0 in one thread and 1 in the other. */
static inline void peterson_lock(struct peterson *l, int own)
{
#ifdef PETERSON_TURN_FIRST
    peterson_give(l, own);
    atomic_store_explicit(&l->wants[own], true, memory_order_relaxed);
#else
    atomic_store_explicit(&l->wants[own], true, memory_order_relaxed);
    peterson_give(l, own);
#endif
    while (atomic_load_explicit(&l->wants[1 - own], PETERSON_SEE_ORDER)
           && atomic_load_explicit(&l->turn, PETERSON_SEE_ORDER) != own) {
    }
}

static inline void peterson_unlock(struct peterson *l, int own)
{
    atomic_store_explicit(&l->wants[own], false, PETERSON_LEAVE_ORDER);
}

#endif
