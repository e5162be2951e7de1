/* Vyukov's bounded queue for many producers and many consumers.

   Dmitry Vyukov, "Bounded MPMC queue", 1024cores.net, 2010. Each cell has a sequence number, which says
   whose turn it is: that of a push at the same position, then one more for a pop, then that of the
   next round. A position is claimed by compare-exchange, which orders nothing: the sequence number
   hands the cell over in both directions.

     MPMC_FULL_ORDER   push: the number of the cell it fills     (release)
     MPMC_EMPTY_ORDER  pop: the number of the cell it empties    (release)
     MPMC_SEE_ORDER    both: the look at the number              (acquire)
     MPMC_TORN         if defined, a position is claimed by a store */

#ifndef MPMC_H
#define MPMC_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef MPMC_FULL_ORDER
#define MPMC_FULL_ORDER memory_order_release
#endif
#ifndef MPMC_EMPTY_ORDER
#define MPMC_EMPTY_ORDER memory_order_release
#endif
#ifndef MPMC_SEE_ORDER
#define MPMC_SEE_ORDER memory_order_acquire
#endif
#ifndef MPMC_SIZE
#define MPMC_SIZE 2
#endif

struct mpmc_cell {
    atomic_uint number;
    int value;
};

struct mpmc {
    struct mpmc_cell cell[MPMC_SIZE];
    atomic_uint pushes, pops;
};

static inline void mpmc_init(struct mpmc *q)
{
    for (unsigned i = 0; i < MPMC_SIZE; i++)
        atomic_init(&q->cell[i].number, i);
}

/* Claims the next position at which a cell has the number `ahead` of it; NULL if the cell still has an
   earlier one. */
static inline struct mpmc_cell *mpmc_claim(struct mpmc *q, atomic_uint *next, unsigned ahead,
                                           unsigned *claimed)
{
    unsigned position = atomic_load_explicit(next, memory_order_relaxed);
    for (;;) {
        struct mpmc_cell *cell = &q->cell[position % MPMC_SIZE];
        unsigned number = atomic_load_explicit(&cell->number, MPMC_SEE_ORDER);
        int difference = (int)(number - (position + ahead));
        if (difference < 0)
            return NULL;
        if (difference > 0) {
            position = atomic_load_explicit(next, memory_order_relaxed);
            continue;
        }
#ifdef MPMC_TORN
        atomic_store_explicit(next, position + 1, memory_order_relaxed);
#else
        if (!atomic_compare_exchange_strong_explicit(next, &position, position + 1,
                                                     memory_order_relaxed, memory_order_relaxed))
            continue;
#endif
        *claimed = position;
        return cell;
    }
}

/* False if the queue is full. */
static inline bool mpmc_push(struct mpmc *q, int value)
{
    unsigned position;
    struct mpmc_cell *cell = mpmc_claim(q, &q->pushes, 0, &position);
    if (!cell)
        return false;
    cell->value = value;
    atomic_store_explicit(&cell->number, position + 1, MPMC_FULL_ORDER);
    return true;
}

/* False if the queue is empty. */
static inline bool mpmc_pop(struct mpmc *q, int *value)
{
    unsigned position;
    struct mpmc_cell *cell = mpmc_claim(q, &q->pops, 1, &position);
    if (!cell)
        return false;
    *value = cell->value;
    atomic_store_explicit(&cell->number, position + MPMC_SIZE, MPMC_EMPTY_ORDER);
    return true;
}

#endif
