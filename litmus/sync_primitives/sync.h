/* Handing a go-ahead from thread to thread: a mutex and a condition variable, with flags that make the
   wait safe, for one waiter, several waiters, several notifiers, and for threads that wait for one
   another.

   Sho Yamanishi, ThreadSynchronizer (WaitNotifySingle, WaitNotifyMultipleWaiters,
   WaitNotifyMultipleNotifiers, WaitNotifyEachOther). Termination is left out.

   The notifier spins until the waiter is waiting, and only then sets notified under the lock; so no
   notification comes too early, and none that nobody asked for wakes the waiter.

   Orders. The flags are atomics with the default order. All of them can be relaxed: but for the spin,
   every access is under the lock, and a notifier that has seen the flag takes the lock after the
   waiter.

     SYNC_WAITING_ORDER  store or increment of waiting, store of ready  (seq_cst)
     SYNC_SPIN_ORDER     load of waiting or ready in the spin           (seq_cst)
     SYNC_NOTIFIED_ORDER load, store and increment of notified          (seq_cst)

   What goes wrong without the parts, if defined:

     SYNC_NO_WAITING     notify: does not wait for a waiter
     SYNC_NO_NOTIFIED    wait: relies on being woken, without a flag
     SYNC_NO_LOCK        notify: sets the flags without the lock
     SYNC_ONE_FLAG       several waiters: they share one flag
     SYNC_SIGNAL         several waiters: one is woken instead of all
     SYNC_NO_READY       barrier: a thread enters again before all have left */

#ifndef SYNC_H
#define SYNC_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef SYNC_THREADS
#define SYNC_THREADS 2 /* waiters, notifiers, or threads at the barrier */
#endif

#ifndef SYNC_WAITING_ORDER
#define SYNC_WAITING_ORDER memory_order_seq_cst
#endif
#ifndef SYNC_SPIN_ORDER
#define SYNC_SPIN_ORDER memory_order_seq_cst
#endif
#ifndef SYNC_NOTIFIED_ORDER
#define SYNC_NOTIFIED_ORDER memory_order_seq_cst
#endif

struct sync {
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

#define SYNC_INIT {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER}

/* Under the lock: sleeps until the flag is set, and clears it. */
static inline void sync_await(struct sync *s, atomic_bool *flag)
{
#ifdef SYNC_NO_NOTIFIED
    (void)flag;
    pthread_cond_wait(&s->wake, &s->lock);
#else
    while (!atomic_load_explicit(flag, SYNC_NOTIFIED_ORDER))
        pthread_cond_wait(&s->wake, &s->lock);
    atomic_store_explicit(flag, false, SYNC_NOTIFIED_ORDER);
#endif
}

/* --- one waiter, one notifier ---------------------------------------------------------------- */

struct sync_single {
    struct sync s;
    atomic_bool waiting;
    atomic_bool notified;
};

static inline void sync_single_wait(struct sync_single *single)
{
    pthread_mutex_lock(&single->s.lock);
    atomic_store_explicit(&single->waiting, true, SYNC_WAITING_ORDER);
    sync_await(&single->s, &single->notified);
    pthread_mutex_unlock(&single->s.lock);
}

/* Waits for the waiter to be waiting. */
static inline void sync_single_notify(struct sync_single *single)
{
#ifndef SYNC_NO_WAITING
    while (!atomic_load_explicit(&single->waiting, SYNC_SPIN_ORDER)) {
    }
#endif
#ifndef SYNC_NO_LOCK
    pthread_mutex_lock(&single->s.lock);
#endif
    atomic_store_explicit(&single->waiting, false, SYNC_WAITING_ORDER);
    atomic_store_explicit(&single->notified, true, SYNC_NOTIFIED_ORDER);
#ifndef SYNC_NO_LOCK
    pthread_mutex_unlock(&single->s.lock);
#endif
    pthread_cond_signal(&single->s.wake);
}

/* --- several waiters, one notifier ----------------------------------------------------------- */

struct sync_waiters {
    struct sync s;
    atomic_int waiting;
    atomic_bool notified[SYNC_THREADS];
};

static inline void sync_waiters_wait(struct sync_waiters *w, int me)
{
#ifdef SYNC_ONE_FLAG
    me = 0;
#endif
    pthread_mutex_lock(&w->s.lock);
    atomic_fetch_add_explicit(&w->waiting, 1, SYNC_WAITING_ORDER);
    sync_await(&w->s, &w->notified[me]);
    pthread_mutex_unlock(&w->s.lock);
}

/* Waits for all waiters to be waiting. */
static inline void sync_waiters_notify(struct sync_waiters *w)
{
    while (atomic_load_explicit(&w->waiting, SYNC_SPIN_ORDER) < SYNC_THREADS) {
    }
    pthread_mutex_lock(&w->s.lock);
    atomic_store_explicit(&w->waiting, 0, SYNC_WAITING_ORDER);
    for (int i = 0; i < SYNC_THREADS; i++)
        atomic_store_explicit(&w->notified[i], true, SYNC_NOTIFIED_ORDER);
    pthread_mutex_unlock(&w->s.lock);
#ifdef SYNC_SIGNAL
    pthread_cond_signal(&w->s.wake);
#else
    pthread_cond_broadcast(&w->s.wake);
#endif
}

/* --- one waiter, several notifiers ----------------------------------------------------------- */

struct sync_notifiers {
    struct sync s;
    atomic_bool waiting;
    atomic_int notified; /* how many have notified */
};

/* Waits for all notifiers. */
static inline void sync_notifiers_wait(struct sync_notifiers *n)
{
    pthread_mutex_lock(&n->s.lock);
    atomic_store_explicit(&n->waiting, true, SYNC_WAITING_ORDER);
    while (atomic_load_explicit(&n->notified, SYNC_NOTIFIED_ORDER) != SYNC_THREADS)
        pthread_cond_wait(&n->s.wake, &n->s.lock);
    atomic_store_explicit(&n->waiting, false, SYNC_WAITING_ORDER);
    atomic_store_explicit(&n->notified, 0, SYNC_NOTIFIED_ORDER);
    pthread_mutex_unlock(&n->s.lock);
}

/* Waits for the waiter to be waiting. */
static inline void sync_notifiers_notify(struct sync_notifiers *n)
{
    while (!atomic_load_explicit(&n->waiting, SYNC_SPIN_ORDER)) {
    }
    pthread_mutex_lock(&n->s.lock);
    atomic_fetch_add_explicit(&n->notified, 1, SYNC_NOTIFIED_ORDER);
    pthread_mutex_unlock(&n->s.lock);
    pthread_cond_signal(&n->s.wake);
}

/* --- threads that wait for one another ------------------------------------------------------- */

struct sync_barrier {
    struct sync s;
    atomic_bool ready; /* all have left the last time */
    atomic_int waiting;
    atomic_bool notified[SYNC_THREADS];
};

#define SYNC_BARRIER_INIT {.s = SYNC_INIT, .ready = true}

/* The last one to come lets the others go. The count falls as they leave. */
static inline void sync_barrier_release(struct sync_barrier *b, int me)
{
    atomic_store_explicit(&b->ready, false, SYNC_WAITING_ORDER);
    atomic_fetch_add_explicit(&b->waiting, -1, SYNC_WAITING_ORDER);
    for (int i = 0; i < SYNC_THREADS; i++) {
        if (i != me)
            atomic_store_explicit(&b->notified[i], true, SYNC_NOTIFIED_ORDER);
    }
    pthread_mutex_unlock(&b->s.lock);
    pthread_cond_broadcast(&b->s.wake);
}

/* Returns when every thread has called it. */
static inline void sync_barrier(struct sync_barrier *b, int me)
{
#ifndef SYNC_NO_READY
    while (!atomic_load_explicit(&b->ready, SYNC_SPIN_ORDER)) {
    }
#endif
    pthread_mutex_lock(&b->s.lock);
    if (atomic_fetch_add_explicit(&b->waiting, 1, SYNC_WAITING_ORDER) == SYNC_THREADS - 1) {
        sync_barrier_release(b, me);
        return;
    }
    sync_await(&b->s, &b->notified[me]);
    if (atomic_fetch_add_explicit(&b->waiting, -1, SYNC_WAITING_ORDER) == 1)
        atomic_store_explicit(&b->ready, true, SYNC_WAITING_ORDER);
    pthread_mutex_unlock(&b->s.lock);
}

#endif
