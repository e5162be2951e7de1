/* A bounded queue for many producers and consumers: a partitioned ticket lock that hands a value over.

   Dave Dice, "PTLQueue: a scalable bounded-capacity MPMC queue", weblog, June 2014. ptlq1 is the first
   form of the text, ptlq2 the second, with the turn encoded as in Dmitry Vyukov's queue.

   A ticket from a cursor names a slot (ticket & mask) and a generation. A thread waits until the
   slot's turn is its ticket; taking the value moves the turn on by the number of slots and lets the
   next generation in. In ptlq1 an empty mailbox (0) tells the consumer to wait; in ptlq2 the turn does
   (ticket: free, ticket + 1: occupied), so that 0 is a value like others.

   Orders. The text takes volatile as sequentially consistent, and fetch-and-increment and CAS as full
   fences. Far less is needed:

   - tickets are given out by atomicity alone: relaxed;
   - turn and, in ptlq1, mailbox are stored with release and waited for with acquire: each hands over
     what was done before it;
   - ptlq1 has the author's store-store barrier between clearing the mailbox and moving the turn. The
     nearest thing in C is a release fence before a relaxed store;
   - the mailbox of ptlq2 is only touched by the thread whose turn it is: a plain variable.

     PTLQ_TURN_LOAD_ORDER     both: wait for the turn                       (acquire)
     PTLQ1_MAILBOX_PUT_ORDER  put: store of the mailbox                     (release)
     PTLQ1_MAILBOX_TAKE_ORDER take: wait for the mailbox                    (acquire)
     PTLQ1_BARRIER_ORDER      take: barrier before the turn moves on        (release)
     PTLQ2_OCCUPIED_ORDER     put: store of the turn, mailbox is full       (release)
     PTLQ2_FREE_ORDER         take, try_take: store of the turn, is empty   (release) */

#ifndef PTLQ_H
#define PTLQ_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef PTLQ_SIZE
#define PTLQ_SIZE 2 /* slots, a power of two; ptlq2 needs two */
#endif

#ifndef PTLQ_TURN_LOAD_ORDER
#define PTLQ_TURN_LOAD_ORDER memory_order_acquire
#endif
#ifndef PTLQ1_MAILBOX_PUT_ORDER
#define PTLQ1_MAILBOX_PUT_ORDER memory_order_release
#endif
#ifndef PTLQ1_MAILBOX_TAKE_ORDER
#define PTLQ1_MAILBOX_TAKE_ORDER memory_order_acquire
#endif
#ifndef PTLQ1_BARRIER_ORDER
#define PTLQ1_BARRIER_ORDER memory_order_release
#endif
#ifndef PTLQ2_OCCUPIED_ORDER
#define PTLQ2_OCCUPIED_ORDER memory_order_release
#endif
#ifndef PTLQ2_FREE_ORDER
#define PTLQ2_FREE_ORDER memory_order_release
#endif

enum { PTLQ_MASK = PTLQ_SIZE - 1 };

/* A line to itself, and the one that the prefetcher brings with it. */
#define PTLQ_ALONE _Alignas(128)

#if PTLQ_SIZE == 1
#define PTLQ_SLOTS {{.turn = 0}}
#elif PTLQ_SIZE == 2
#define PTLQ_SLOTS {{.turn = 0}, {.turn = 1}}
#elif PTLQ_SIZE == 4
#define PTLQ_SLOTS {{.turn = 0}, {.turn = 1}, {.turn = 2}, {.turn = 3}}
#else
#error "PTLQ_SIZE is 1, 2 or 4"
#endif

#define PTLQ_INIT {.slots = PTLQ_SLOTS}

/* --- first form ------------------------------------------------------------------------------ */

struct ptlq1_slot {
    PTLQ_ALONE atomic_uint turn;
    atomic_int mailbox; /* 0: empty */
};

struct ptlq1 {
    PTLQ_ALONE atomic_uint put_cursor;
    PTLQ_ALONE atomic_uint take_cursor;
    struct ptlq1_slot slots[PTLQ_SIZE];
};

static inline struct ptlq1_slot *ptlq1_wait(struct ptlq1 *q, unsigned ticket)
{
    struct ptlq1_slot *s = &q->slots[ticket & PTLQ_MASK];
    while (atomic_load_explicit(&s->turn, PTLQ_TURN_LOAD_ORDER) != ticket) {
    }
    return s;
}

/* Waits for a free slot. The value is not 0. */
static inline void ptlq1_put(struct ptlq1 *q, int value)
{
    unsigned ticket = atomic_fetch_add_explicit(&q->put_cursor, 1, memory_order_relaxed);
    struct ptlq1_slot *s = ptlq1_wait(q, ticket);
    assert(atomic_load_explicit(&s->mailbox, memory_order_relaxed) == 0);
    atomic_store_explicit(&s->mailbox, value, PTLQ1_MAILBOX_PUT_ORDER);
}

/* Waits for a value. */
static inline int ptlq1_take(struct ptlq1 *q)
{
    int value;
    unsigned ticket = atomic_fetch_add_explicit(&q->take_cursor, 1, memory_order_relaxed);
    struct ptlq1_slot *s = ptlq1_wait(q, ticket);
    while ((value = atomic_load_explicit(&s->mailbox, PTLQ1_MAILBOX_TAKE_ORDER)) == 0) {
    }
    atomic_store_explicit(&s->mailbox, 0, memory_order_relaxed);
    atomic_thread_fence(PTLQ1_BARRIER_ORDER);
    atomic_store_explicit(&s->turn, ticket + PTLQ_SIZE, memory_order_relaxed);
    return value;
}

/* --- second form ----------------------------------------------------------------------------- */

struct ptlq2_slot {
    PTLQ_ALONE atomic_uint turn;
    int mailbox;
};

struct ptlq2 {
    PTLQ_ALONE atomic_uint put_cursor;
    PTLQ_ALONE atomic_uint take_cursor;
    struct ptlq2_slot slots[PTLQ_SIZE];
};

static inline struct ptlq2_slot *ptlq2_wait(struct ptlq2 *q, unsigned ticket, unsigned turn)
{
    struct ptlq2_slot *s = &q->slots[ticket & PTLQ_MASK];
    while (atomic_load_explicit(&s->turn, PTLQ_TURN_LOAD_ORDER) != turn) {
    }
    return s;
}

/* Empties the slot and lets the next put in. */
static inline int ptlq2_empty(struct ptlq2_slot *s, unsigned ticket)
{
    int value = s->mailbox;
    atomic_store_explicit(&s->turn, ticket + PTLQ_SIZE, PTLQ2_FREE_ORDER);
    return value;
}

/* Waits for a free slot. */
static inline void ptlq2_put(struct ptlq2 *q, int value)
{
    unsigned ticket = atomic_fetch_add_explicit(&q->put_cursor, 1, memory_order_relaxed);
    struct ptlq2_slot *s = ptlq2_wait(q, ticket, ticket);
    s->mailbox = value;
    atomic_store_explicit(&s->turn, ticket + 1, PTLQ2_OCCUPIED_ORDER);
}

/* Waits for a value. */
static inline int ptlq2_take(struct ptlq2 *q)
{
    unsigned ticket = atomic_fetch_add_explicit(&q->take_cursor, 1, memory_order_relaxed);
    return ptlq2_empty(ptlq2_wait(q, ticket, ticket + 1), ticket);
}

/* Does not wait: false when the oldest value is not there. */
static inline bool ptlq2_try_take(struct ptlq2 *q, int *value)
{
    for (;;) {
        unsigned ticket = atomic_load_explicit(&q->take_cursor, memory_order_relaxed);
        struct ptlq2_slot *s = &q->slots[ticket & PTLQ_MASK];
        unsigned turn = atomic_load_explicit(&s->turn, PTLQ_TURN_LOAD_ORDER);
        int ahead = (int)(turn - (ticket + 1));
        if (ahead < 0)
            return false;
        if (ahead == 0
            && atomic_compare_exchange_strong_explicit(&q->take_cursor, &ticket, ticket + 1,
                                                       memory_order_relaxed,
                                                       memory_order_relaxed)) {
            *value = ptlq2_empty(s, ticket);
            return true;
        }
    }
}

#endif
