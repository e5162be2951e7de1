/* An eventcount: threads sleep until a condition of the caller's may have changed, and a notification
   costs next to nothing while nobody sleeps.

   Dmitry Vyukov, "EventCount", 1024cores.net, 2008, in the form of folly/experimental/EventCount.h: one word
   counts the waiters in its low bits, and the notifications above. A waiter announces itself, tests the
   condition again and sleeps until the count of notifications changes; a notifier makes the
   condition true and then counts. Both change the same word, so that one of them sees the other. With
   EVENTCOUNT_LOOKS the notifier only looks whether somebody waits, as Vyukov's does: that is store
   buffering, and needs a seq_cst fence on both sides.

     EVENTCOUNT_NOTIFY_ORDER    notify: the count              (acq_rel)
     EVENTCOUNT_PREPARE_ORDER   prepare: the announcement      (acq_rel)
     EVENTCOUNT_NO_NOTIFY_FENCE    if defined, no fence before the look
     EVENTCOUNT_NO_PREPARE_FENCE   if defined, no fence after the announcement
     EVENTCOUNT_WAKES_FIRST     if defined, notify wakes before it counts */

#ifndef EVENTCOUNT_H
#define EVENTCOUNT_H

#define _GNU_SOURCE /* syscall */

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef EVENTCOUNT_NOTIFY_ORDER
#define EVENTCOUNT_NOTIFY_ORDER memory_order_acq_rel
#endif
#ifndef EVENTCOUNT_PREPARE_ORDER
#define EVENTCOUNT_PREPARE_ORDER memory_order_acq_rel
#endif

enum { EVENTCOUNT_WAITERS = 0xff, EVENTCOUNT_ONE = 0x100 };

struct eventcount {
    atomic_uint word;
};

static inline void eventcount_wake(struct eventcount *e)
{
    syscall(SYS_futex, &e->word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

/* Wakes all that wait: call it after the condition has become true. */
static inline void eventcount_notify(struct eventcount *e)
{
#ifdef EVENTCOUNT_LOOKS
#ifndef EVENTCOUNT_NO_NOTIFY_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (!(atomic_load_explicit(&e->word, memory_order_relaxed) & EVENTCOUNT_WAITERS))
        return;
#endif
#ifdef EVENTCOUNT_WAKES_FIRST
    eventcount_wake(e);
    atomic_fetch_add_explicit(&e->word, EVENTCOUNT_ONE, EVENTCOUNT_NOTIFY_ORDER);
#else
    unsigned before =
        atomic_fetch_add_explicit(&e->word, EVENTCOUNT_ONE, EVENTCOUNT_NOTIFY_ORDER);
    if (before & EVENTCOUNT_WAITERS)
        eventcount_wake(e);
#endif
}

/* Announces a waiter, who tests the condition after it: what eventcount_wait takes. */
static inline unsigned eventcount_prepare(struct eventcount *e)
{
    unsigned before = atomic_fetch_add_explicit(&e->word, 1, EVENTCOUNT_PREPARE_ORDER);
#if defined EVENTCOUNT_LOOKS && !defined EVENTCOUNT_NO_PREPARE_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    return before / EVENTCOUNT_ONE;
}

/* The condition was true: the waiter does not wait. */
static inline void eventcount_cancel(struct eventcount *e)
{
    atomic_fetch_sub_explicit(&e->word, 1, memory_order_relaxed);
}

/* Returns when somebody has notified since `prepared` was prepared. */
static inline void eventcount_wait(struct eventcount *e, unsigned prepared)
{
    unsigned seen;
    while ((seen = atomic_load_explicit(&e->word, memory_order_acquire)) / EVENTCOUNT_ONE
           == prepared)
        syscall(SYS_futex, &e->word, FUTEX_WAIT_PRIVATE, seen, 0, 0, 0);
    eventcount_cancel(e);
}

#endif
