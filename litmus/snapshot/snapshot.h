/* A wait-free atomic snapshot of registers that have one writer each.

   Y. Afek, H. Attiya, D. Dolev, E. Gafni, M. Merritt, N. Shavit, "Atomic snapshots of shared memory", JACM
   40(4), 1993, section 3: the unbounded single-writer algorithm. A scan reads all registers until two
   collects agree. A register that has changed twice meanwhile was updated by an update that began
   after the scan, and that update has stored a snapshot of its own, which the scan borrows. The paper's
   registers are atomic, in one order for all: seq_cst. A record is never used again, so that its
   address serves as the sequence number.

     SNAPSHOT_STORE_ORDER   update: the store of the record     (seq_cst)
     SNAPSHOT_READ_ORDER    scan: each read of a register       (seq_cst)
     SNAPSHOT_ONE_COLLECT   if defined, a scan is one collect
     SNAPSHOT_MOVES         how often a register changes before its snapshot is borrowed (2)
     SNAPSHOT_NO_SCAN       if defined, an update stores no snapshot of its own */

#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#ifndef SNAPSHOT_STORE_ORDER
#define SNAPSHOT_STORE_ORDER memory_order_seq_cst
#endif
#ifndef SNAPSHOT_READ_ORDER
#define SNAPSHOT_READ_ORDER memory_order_seq_cst
#endif
#ifndef SNAPSHOT_MOVES
#define SNAPSHOT_MOVES 2
#endif

enum { SNAPSHOT_SIZE = 2 };

struct record {
    int value;
    int view[SNAPSHOT_SIZE];
};

struct snapshot {
    struct record *_Atomic at[SNAPSHOT_SIZE];
};

static inline void snapshot_collect(struct snapshot *s, struct record *found[SNAPSHOT_SIZE])
{
    for (int i = 0; i < SNAPSHOT_SIZE; i++)
        found[i] = atomic_load_explicit(&s->at[i], SNAPSHOT_READ_ORDER);
}

/* The values of all registers at one moment within the call. */
static inline void snapshot_scan(struct snapshot *s, int view[SNAPSHOT_SIZE])
{
    struct record *before[SNAPSHOT_SIZE], *now[SNAPSHOT_SIZE];
    snapshot_collect(s, now);
#ifndef SNAPSHOT_ONE_COLLECT
    int moves[SNAPSHOT_SIZE] = {0};
    bool same;
    do {
        memcpy(before, now, sizeof now);
        snapshot_collect(s, now);
        same = true;
        for (int i = 0; i < SNAPSHOT_SIZE; i++) {
            if (now[i] == before[i])
                continue;
            same = false;
            if (++moves[i] == SNAPSHOT_MOVES) {
                memcpy(view, now[i]->view, sizeof now[i]->view);
                return;
            }
        }
    } while (!same);
#else
    (void)before;
#endif
    for (int i = 0; i < SNAPSHOT_SIZE; i++)
        view[i] = now[i]->value;
}

/* Stores `value` in the register `own` of the calling thread, with a record that is not in use. */
static inline void snapshot_update(struct snapshot *s, int own, struct record *record, int value)
{
    record->value = value;
#ifndef SNAPSHOT_NO_SCAN
    snapshot_scan(s, record->view);
#endif
    atomic_store_explicit(&s->at[own], record, SNAPSHOT_STORE_ORDER);
}

#endif
