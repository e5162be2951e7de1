/* Sleeping and waking in a thread pool. Each worker has a queue of its own, which others steal from
   without a lock; threads outside the pool enqueue into a global queue under a lock. A worker that
   finds nothing counts itself as waiting and sleeps.

   Joe Duffy, "Building a custom thread pool", parts 1 and 3, weblog, July and September 2008
   (QueueUserWorkItem, DispatchLoop, Dispose). A queue holds one item here, since nothing but empty
   or not matters to sleeping; 0 is no item.

   The author looks at the other queues first and announces the wait after that: an item that is
   enqueued in between wakes nobody, and he says so. POOL_SCAN_AGAIN is the repair: having announced
   the wait, look again. Then enqueue and wait are store buffering (item, then waiting; waiting, then
   item), and need what store buffering needs.

   Orders. In .NET every store is a release and a volatile load an acquire. waiting and shutdown are
   not volatile there; here they are atomic, since they are read without the lock.

     POOL_ENQUEUE_ORDER     enqueue_local: store of the item                  (release)
     POOL_ENQUEUE_FENCE     enqueue_local: if defined, a fence with this order after it
     POOL_HINT_ORDER        enqueue_local: load of waiting                    (acquire)
     POOL_SCAN_AGAIN        find: if defined, the other queues are looked at once more
     POOL_ANNOUNCE_ORDER    find: store of waiting                            (release)
     POOL_ANNOUNCE_FENCE    find: if defined, a fence with this order after it
     POOL_SCAN_ORDER        find: load of another worker's item               (acquire)
     POOL_SHUTDOWN_PLAIN    if defined, shutdown is a plain variable
     POOL_SHUTDOWN_ORDER    load and store of shutdown                        (relaxed)
     POOL_SHUTDOWN_NO_LOCK  shutdown: if defined, all are woken without the lock */

#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef POOL_ENQUEUE_ORDER
#define POOL_ENQUEUE_ORDER memory_order_release
#endif
#ifndef POOL_HINT_ORDER
#define POOL_HINT_ORDER memory_order_acquire
#endif
#ifndef POOL_ANNOUNCE_ORDER
#define POOL_ANNOUNCE_ORDER memory_order_release
#endif
#ifndef POOL_SCAN_ORDER
#define POOL_SCAN_ORDER memory_order_acquire
#endif
#ifndef POOL_SHUTDOWN_ORDER
#define POOL_SHUTDOWN_ORDER memory_order_relaxed
#endif

enum { POOL_WORKERS = 2 };

struct pool {
    atomic_int local[POOL_WORKERS]; /* the workers' own queues */
    int global;                     /* the queue for all, under the lock */
    atomic_int waiting;             /* sleeping workers; changed under the lock */
#ifdef POOL_SHUTDOWN_PLAIN
    bool shutdown;
#else
    atomic_bool shutdown;
#endif
    pthread_mutex_t lock;
    pthread_cond_t work;
};

#define POOL_INIT {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER}

/* --- enqueue --------------------------------------------------------------------------------- */

/* Worker only: into its own queue. Wakes a worker if there seems to be a sleeping one. */
static inline void pool_enqueue_local(struct pool *p, int me, int item)
{
    atomic_store_explicit(&p->local[me], item, POOL_ENQUEUE_ORDER);
#ifdef POOL_ENQUEUE_FENCE
    atomic_thread_fence(POOL_ENQUEUE_FENCE);
#endif
    if (atomic_load_explicit(&p->waiting, POOL_HINT_ORDER) > 0) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_signal(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Any thread. */
static inline void pool_enqueue_global(struct pool *p, int item)
{
    pthread_mutex_lock(&p->lock);
    p->global = item;
    if (atomic_load_explicit(&p->waiting, memory_order_relaxed) > 0)
        pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

/* --- find ------------------------------------------------------------------------------------ */

static inline int pool_take(atomic_int *queue)
{
    if (atomic_load_explicit(queue, POOL_SCAN_ORDER) == 0)
        return 0;
    return atomic_exchange_explicit(queue, 0, memory_order_acquire);
}

static inline int pool_steal(struct pool *p, int me)
{
    int item = 0;
    for (int i = 0; i < POOL_WORKERS && item == 0; i++) {
        if (i != me)
            item = pool_take(&p->local[i]);
    }
    return item;
}

static inline bool pool_is_shut_down(struct pool *p)
{
#ifdef POOL_SHUTDOWN_PLAIN
    return p->shutdown;
#else
    return atomic_load_explicit(&p->shutdown, POOL_SHUTDOWN_ORDER);
#endif
}

static inline void pool_count_waiting(struct pool *p, int more)
{
    int waiting = atomic_load_explicit(&p->waiting, memory_order_relaxed);
    atomic_store_explicit(&p->waiting, waiting + more, POOL_ANNOUNCE_ORDER);
}

/* Under the lock: sleeps until somebody wakes a worker. With POOL_SCAN_AGAIN, an item that was found
   after all. */
static inline int pool_sleep(struct pool *p, int me)
{
    int item = 0;
    (void)me;
    pool_count_waiting(p, 1);
#ifdef POOL_ANNOUNCE_FENCE
    atomic_thread_fence(POOL_ANNOUNCE_FENCE);
#endif
#ifdef POOL_SCAN_AGAIN
    item = pool_steal(p, me);
#endif
    if (item == 0)
        pthread_cond_wait(&p->work, &p->lock);
    pool_count_waiting(p, -1);
    return item;
}

/* One look at the global queue, under the lock; `sleep` when there is nothing in it. */
static inline int pool_look(struct pool *p, int me, bool sleep, bool *over)
{
    pthread_mutex_lock(&p->lock);
    *over = pool_is_shut_down(p);
    int item = 0;
    if (!*over) {
        item = p->global;
        if (item != 0) {
            p->global = 0;
        } else if (sleep) {
            item = pool_sleep(p, me);
            *over = item == 0 && pool_is_shut_down(p);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return item;
}

/* Worker only: the next item, from its own queue, the global one, or another worker's. Sleeps while
   there is none; 0 after shutdown. */
static inline int pool_find(struct pool *p, int me)
{
    bool over = false;
    int item = pool_take(&p->local[me]);
    for (bool searched = false; item == 0; searched = !searched) {
        item = pool_look(p, me, searched, &over);
        if (over)
            return 0;
        if (item == 0 && !searched)
            item = pool_steal(p, me);
    }
    return item;
}

/* --- shutdown -------------------------------------------------------------------------------- */

static inline void pool_shut_down(struct pool *p)
{
#ifdef POOL_SHUTDOWN_PLAIN
    p->shutdown = true;
#else
    atomic_store_explicit(&p->shutdown, true, POOL_SHUTDOWN_ORDER);
#endif
#ifdef POOL_SHUTDOWN_NO_LOCK
    pthread_cond_broadcast(&p->work);
#else
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
#endif
}

#endif
