/* Hazard pointers: a reader announces the object that it uses, and who takes an object away frees it
   only when nobody has announced it.

   Maged M. Michael, "Hazard pointers: safe memory reclamation for lock-free objects", IEEE TPDS 15(6),
   2004. The paper assumes sequential consistency. Announcing, then looking again whether the object is
   still there, meets taking it away, then looking at the announcements: store buffering, so that both
   sides need a seq_cst fence. The announcement is a release too: in C++20 it does not continue the
   release sequence that withdrawing the last one begins.

     HAZARD_SEE_ORDER     protect: the second look at the object   (acquire)
     HAZARD_ANNOUNCE_ORDER  protect: the announcement              (release)
     HAZARD_CLEAR_ORDER   clear: the announcement is withdrawn     (release)
     HAZARD_SCAN_ORDER    scan: the look at an announcement        (acquire)
     HAZARD_NO_PROTECT_FENCE   if defined, no fence after the announcement
     HAZARD_NO_SCAN_FENCE      if defined, no fence before the announcements are looked at
     HAZARD_TRUSTS        if defined, protect does not look again
     HAZARD_NO_SCAN       if defined, scan does not look */

#ifndef HAZARD_H
#define HAZARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef HAZARD_SEE_ORDER
#define HAZARD_SEE_ORDER memory_order_acquire
#endif
#ifndef HAZARD_ANNOUNCE_ORDER
#define HAZARD_ANNOUNCE_ORDER memory_order_release
#endif
#ifndef HAZARD_CLEAR_ORDER
#define HAZARD_CLEAR_ORDER memory_order_release
#endif
#ifndef HAZARD_SCAN_ORDER
#define HAZARD_SCAN_ORDER memory_order_acquire
#endif
#ifndef HAZARD_READERS
#define HAZARD_READERS 1
#endif

struct object {
    int value;
};

struct hazards {
    struct object *_Atomic announced[HAZARD_READERS];
};

/* The object at `source`, which nobody frees before `reader` clears its announcement. */
static inline struct object *hazard_protect(struct hazards *h, int reader,
                                            struct object *_Atomic *source)
{
    struct object *found = atomic_load_explicit(source, memory_order_relaxed);
    for (;;) {
        atomic_store_explicit(&h->announced[reader], found, HAZARD_ANNOUNCE_ORDER);
#ifndef HAZARD_NO_PROTECT_FENCE
        atomic_thread_fence(memory_order_seq_cst);
#endif
#ifdef HAZARD_TRUSTS
        return found;
#else
        struct object *again = atomic_load_explicit(source, HAZARD_SEE_ORDER);
        if (again == found)
            return found;
        found = again;
#endif
    }
}

static inline void hazard_clear(struct hazards *h, int reader)
{
    atomic_store_explicit(&h->announced[reader], NULL, HAZARD_CLEAR_ORDER);
}

/* Whether no reader uses `old`, which was taken away before: it may be freed, or used again. */
static inline bool hazard_scan(struct hazards *h, struct object *old)
{
#ifndef HAZARD_NO_SCAN_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
#ifndef HAZARD_NO_SCAN
    for (int reader = 0; reader < HAZARD_READERS; reader++)
        if (atomic_load_explicit(&h->announced[reader], HAZARD_SCAN_ORDER) == old)
            return false;
#endif
    (void)h, (void)old;
    return true;
}

#endif
