/* A ticket lock: threads enter in the order in which they drew their tickets.

   John Mellor-Crummey, Michael Scott, "Algorithms for scalable synchronization on shared-memory
   multiprocessors", TOCS 9(1), 1991, section 2.2.

   Drawing a ticket needs atomicity alone. The number that is served hands over what was done inside.
   Only the thread inside changes it, so it is read and written, not updated.

     TICKET_WAIT_ORDER   lock: wait for the own number     (acquire)
     TICKET_SERVE_ORDER  unlock: serve the next number     (release)
     TICKET_TORN         if defined, a ticket is drawn with a load and a store */

#ifndef TICKET_H
#define TICKET_H

#include <stdatomic.h>

#ifndef TICKET_WAIT_ORDER
#define TICKET_WAIT_ORDER memory_order_acquire
#endif
#ifndef TICKET_SERVE_ORDER
#define TICKET_SERVE_ORDER memory_order_release
#endif

struct ticket {
    atomic_uint next;
    atomic_uint served;
};

static inline unsigned ticket_draw(struct ticket *l)
{
#ifdef TICKET_TORN
    unsigned mine = atomic_load_explicit(&l->next, memory_order_relaxed);
    atomic_store_explicit(&l->next, mine + 1, memory_order_relaxed);
    return mine;
#else
    return atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
#endif
}

static inline void ticket_lock(struct ticket *l)
{
    unsigned mine = ticket_draw(l);
    while (atomic_load_explicit(&l->served, TICKET_WAIT_ORDER) != mine) {
    }
}

static inline void ticket_unlock(struct ticket *l)
{
    unsigned mine = atomic_load_explicit(&l->served, memory_order_relaxed);
    atomic_store_explicit(&l->served, mine + 1, TICKET_SERVE_ORDER);
}

#endif
