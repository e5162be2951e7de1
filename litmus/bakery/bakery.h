/* Lamport's bakery: mutual exclusion from reads and writes alone, first come, first served.

   Leslie Lamport, "A new solution of Dijkstra's concurrent programming problem", CACM 17(8), 1974. A
   thread announces that it chooses a number, chooses one higher than all others, and waits for each
   other thread until that does not choose and has none, or a higher number. The proof assumes that a
   store is visible to all when the next one is made: here two seq_cst fences, after the announcement
   and after the number. The second publishes the end of the choice too.

     BAKERY_SEE_ORDER       lock: the looks at the others               (acquire)
     BAKERY_CHOSEN_ORDER    lock: the end of the choice                 (release)
     BAKERY_LEAVE_ORDER     unlock: the number is given back            (release)
     BAKERY_NO_ANNOUNCE_FENCE   if defined, no fence after the announcement
     BAKERY_NO_NUMBER_FENCE     if defined, no fence after the number
     BAKERY_NO_CHOOSING     if defined, nobody waits for one who chooses
     BAKERY_NO_TIES         if defined, equal numbers are not decided by the threads' own */

#ifndef BAKERY_H
#define BAKERY_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef BAKERY_SEE_ORDER
#define BAKERY_SEE_ORDER memory_order_acquire
#endif
#ifndef BAKERY_CHOSEN_ORDER
#define BAKERY_CHOSEN_ORDER memory_order_release
#endif
#ifndef BAKERY_LEAVE_ORDER
#define BAKERY_LEAVE_ORDER memory_order_release
#endif
#ifndef BAKERY_THREADS
#define BAKERY_THREADS 2
#endif

struct bakery {
    atomic_bool choosing[BAKERY_THREADS];
    atomic_int number[BAKERY_THREADS];
};

/* Whether `other` with its number comes before `own` with its. */
static inline bool bakery_before(int number, int other, int mine, int own)
{
#ifdef BAKERY_NO_TIES
    (void)other, (void)own;
    return number < mine;
#else
    return number < mine || (number == mine && other < own);
#endif
}

/* `own` is the number of the thread, from 0. */
static inline void bakery_lock(struct bakery *l, int own)
{
    int highest = 0;
    atomic_store_explicit(&l->choosing[own], true, memory_order_relaxed);
#ifndef BAKERY_NO_ANNOUNCE_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    for (int other = 0; other < BAKERY_THREADS; other++) {
        int number = atomic_load_explicit(&l->number[other], memory_order_relaxed);
        if (number > highest)
            highest = number;
    }
    int mine = highest + 1;
    atomic_store_explicit(&l->number[own], mine, memory_order_relaxed);
    atomic_store_explicit(&l->choosing[own], false, BAKERY_CHOSEN_ORDER);
#ifndef BAKERY_NO_NUMBER_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    for (int other = 0; other < BAKERY_THREADS; other++) {
        if (other == own)
            continue;
#ifndef BAKERY_NO_CHOOSING
        while (atomic_load_explicit(&l->choosing[other], BAKERY_SEE_ORDER)) {
        }
#endif
        for (;;) {
            int number = atomic_load_explicit(&l->number[other], BAKERY_SEE_ORDER);
            if (number == 0 || !bakery_before(number, other, mine, own))
                break;
        }
    }
}

static inline void bakery_unlock(struct bakery *l, int own)
{
    atomic_store_explicit(&l->number[own], 0, BAKERY_LEAVE_ORDER);
}

#endif
