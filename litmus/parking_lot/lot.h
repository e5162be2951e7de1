/* A parking lot, and a lock of two bits on top of it.

   Filip Pizlo, "Locking in WebKit", webkit.org, 2016: WTF::ParkingLot and WTF::Lock. Threads sleep in
   queues that belong to addresses, so that a lock needs one bit for "held" and one for "somebody is
   parked". Here the lot has one queue, with a mutex. Who parks tests its condition with the queue's
   mutex held (the validation), and who unparks changes the lock's bits with it held, so that no
   wake-up comes between.

     LOT_TAKE_ORDER     lock: the compare-exchange          (acquire)
     LOT_LEAVE_ORDER    unlock: each change of the bits     (release)
     LOT_EARLY_TEST     if defined, the condition is tested before the mutex is taken
     LOT_LATE_BITS      if defined, unlock clears the bits after the mutex is left
     LOT_FORGETS        if defined, unlock clears the parked bit while others are parked
     LOT_PLAIN_UNLOCK   if defined, unlock looks at the bits, then stores */

#ifndef LOT_H
#define LOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef LOT_TAKE_ORDER
#define LOT_TAKE_ORDER memory_order_acquire
#endif
#ifndef LOT_LEAVE_ORDER
#define LOT_LEAVE_ORDER memory_order_release
#endif

enum { LOT_HELD = 1, LOT_PARKED = 2 };

struct parked {
    struct parked *next;
    bool woken;
    pthread_cond_t wake;
};

struct lot {
    pthread_mutex_t mutex;
    struct parked *first, *last;
};

#define LOT_EMPTY {PTHREAD_MUTEX_INITIALIZER, NULL, NULL}

/* Parks the calling thread if the bits are still as they were seen. */
static inline void lot_park(struct lot *lot, atomic_int *bits, int seen)
{
    struct parked own = {NULL, false, PTHREAD_COND_INITIALIZER};
#ifdef LOT_EARLY_TEST
    if (atomic_load_explicit(bits, memory_order_relaxed) != seen)
        return;
    pthread_mutex_lock(&lot->mutex);
#else
    pthread_mutex_lock(&lot->mutex);
    if (atomic_load_explicit(bits, memory_order_relaxed) != seen) {
        pthread_mutex_unlock(&lot->mutex);
        return;
    }
#endif
    if (lot->first)
        lot->last->next = &own;
    else
        lot->first = &own;
    lot->last = &own;
    while (!own.woken)
        pthread_cond_wait(&own.wake, &lot->mutex);
    pthread_mutex_unlock(&lot->mutex);
    pthread_cond_destroy(&own.wake);
}

/* Frees the lock, and unparks a thread if one is parked. */
static inline void lot_unpark(struct lot *lot, atomic_int *bits)
{
    pthread_mutex_lock(&lot->mutex);
    struct parked *first = lot->first;
    if (first)
        lot->first = first->next;
#ifdef LOT_FORGETS
    int left = 0;
#else
    int left = lot->first ? LOT_PARKED : 0;
#endif
#ifndef LOT_LATE_BITS
    atomic_store_explicit(bits, left, LOT_LEAVE_ORDER);
#endif
    if (first) {
        first->woken = true;
        pthread_cond_signal(&first->wake);
    }
    pthread_mutex_unlock(&lot->mutex);
#ifdef LOT_LATE_BITS
    atomic_store_explicit(bits, left, LOT_LEAVE_ORDER);
#endif
}

static inline bool lot_change(atomic_int *bits, int from, int to, memory_order order)
{
    return atomic_compare_exchange_strong_explicit(bits, &from, to, order, memory_order_relaxed);
}

static inline void lot_lock(struct lot *lot, atomic_int *bits)
{
    for (;;) {
        int seen = atomic_load_explicit(bits, memory_order_relaxed);
        if (!(seen & LOT_HELD)) {
            if (lot_change(bits, seen, seen | LOT_HELD, LOT_TAKE_ORDER))
                return;
        } else if ((seen & LOT_PARKED)
                   || lot_change(bits, seen, LOT_HELD | LOT_PARKED, memory_order_relaxed)) {
            lot_park(lot, bits, LOT_HELD | LOT_PARKED);
        }
    }
}

static inline void lot_unlock(struct lot *lot, atomic_int *bits)
{
#ifdef LOT_PLAIN_UNLOCK
    if (atomic_load_explicit(bits, memory_order_relaxed) == LOT_HELD)
        atomic_store_explicit(bits, 0, LOT_LEAVE_ORDER);
    else
        lot_unpark(lot, bits);
#else
    if (!lot_change(bits, LOT_HELD, 0, LOT_LEAVE_ORDER))
        lot_unpark(lot, bits);
#endif
}

#endif
