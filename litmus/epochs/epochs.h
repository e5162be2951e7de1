/* Epoch-based reclamation: what was taken away is freed when every thread has been seen in a later
   epoch.

   Keir Fraser, "Practical lock-freedom", technical report UCAM-CL-TR-579, Cambridge, 2004, section 5.2.3. A
   thread that reads shared objects announces the global epoch and that it is inside. The epoch is
   advanced only when all threads inside have announced it, so that a thread inside is at most one
   epoch behind: what was taken away in epoch e is freed when the epoch is e + 2. Announcing, then
   reading, meets taking away, then looking at the announcements: store buffering, so that both sides
   need a seq_cst fence. The announcement is a release too: in C++20 it does not continue the release
   sequence that leaving begins, and whoever reads it has to see what was read before leaving.

     EPOCH_ENTER_ORDER    enter: the announcement                  (release)
     EPOCH_LEAVE_ORDER    leave: the announcement is withdrawn     (release)
     EPOCH_SEEN_ORDER     advance: the look at an announcement     (acquire)
     EPOCH_NO_ENTER_FENCE    if defined, no fence after the announcement
     EPOCH_NO_ADVANCE_FENCE  if defined, no fence after the look at the global epoch
     EPOCH_GRACE          in how many epochs something is freed    (2)
     EPOCH_BLIND          if defined, the epoch is advanced without looking */

#ifndef EPOCHS_H
#define EPOCHS_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef EPOCH_ENTER_ORDER
#define EPOCH_ENTER_ORDER memory_order_release
#endif
#ifndef EPOCH_LEAVE_ORDER
#define EPOCH_LEAVE_ORDER memory_order_release
#endif
#ifndef EPOCH_SEEN_ORDER
#define EPOCH_SEEN_ORDER memory_order_acquire
#endif
#ifndef EPOCH_GRACE
#define EPOCH_GRACE 2
#endif
#ifndef EPOCH_THREADS
#define EPOCH_THREADS 2
#endif

struct epochs {
    atomic_uint global;
    atomic_uint announced[EPOCH_THREADS]; /* twice the epoch, and 1; 0 outside */
};

/* The epoch in which the thread `own` may read shared objects from now on. */
static inline unsigned epoch_enter(struct epochs *e, int own)
{
    unsigned epoch = atomic_load_explicit(&e->global, memory_order_relaxed);
    atomic_store_explicit(&e->announced[own], 2 * epoch + 1, EPOCH_ENTER_ORDER);
#ifndef EPOCH_NO_ENTER_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    return epoch;
}

static inline void epoch_leave(struct epochs *e, int own)
{
    atomic_store_explicit(&e->announced[own], 0, EPOCH_LEAVE_ORDER);
}

/* The epoch in which something was taken away, if it was before this call. */
static inline unsigned epoch_retire(struct epochs *e)
{
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&e->global, memory_order_relaxed);
}

/* The global epoch, one later if no thread inside has announced an earlier one. */
static inline unsigned epoch_advance(struct epochs *e)
{
    unsigned epoch = atomic_load_explicit(&e->global, memory_order_relaxed);
#ifndef EPOCH_NO_ADVANCE_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
#ifndef EPOCH_BLIND
    for (int i = 0; i < EPOCH_THREADS; i++) {
        unsigned seen = atomic_load_explicit(&e->announced[i], EPOCH_SEEN_ORDER);
        if (seen && seen != 2 * epoch + 1)
            return epoch;
    }
#endif
    unsigned expected = epoch;
    bool first = atomic_compare_exchange_strong_explicit(
        &e->global, &expected, epoch + 1, memory_order_release, memory_order_relaxed);
    return first ? epoch + 1 : epoch;
}

/* Whether what was taken away in epoch `retired` may be freed in epoch `now`. */
static inline bool epoch_over(unsigned retired, unsigned now)
{
    return now - retired >= EPOCH_GRACE;
}

#endif
