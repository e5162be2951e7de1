/* The task storage CentralK of Pheet: a global array of items that all threads fill and read.

   "Pheet meets C++11", a report on moving Pheet's CentralKStrategy from fences to the memory model of
   C++11. The sections are named after the members whose orders they choose.

   The array grows by blocks. A thread puts an item into one of the CK_K entries behind the tail; when
   all of them are taken it moves the tail by CK_K. Every entry below the tail is filled. A block that
   no thread needs any more is emptied by the last one to say so, and used again by its owner.

   The report needs no seq_cst. These are its orders, but for CK_DEREGISTER_ORDER, where it chooses
   relaxed: what a thread reads in a block must happen before the last thread empties it. Release with
   CK_LAST_FENCE does as well, and spares all but the last thread the acquire.

     CK_PUT_ORDER         put: CAS of an entry                              (release)
     CK_PUT_WEAK          put: if defined, the CAS is weak
     CK_ENTRY_ORDER       load of an entry                                  (acquire)
     CK_TAIL_ORDER        push: CAS of tail                                 (release)
     CK_TAIL_STORE        push: if defined, tail is moved by a store instead of a CAS
     CK_TAIL_LOAD_ORDER   load of tail before the entries below it are read (acquire)
     CK_DEREGISTER_ORDER  deregister: fetch_sub of active_threads           (acq_rel)
     CK_LAST_FENCE        deregister: if defined, a fence with this order in the last thread
     CK_FREE              deregister: if defined, the last thread frees the block instead
     CK_RESET_FENCE       deregister: if defined, a fence with this order before active is cleared
     CK_INACTIVE_ORDER    deregister: store of active                       (release)
     CK_REUSABLE_FENCE    is_reusable: if defined, a fence with this order when it is (listing 4)
     CK_REUSE_ORDER       add_block: load of active                         (acquire)
     CK_NEXT_ORDER        add_block: CAS of next                            (release)
     CK_NEXT_LOAD_ORDER   load of next                                      (acquire) */

#ifndef CENTRALK_H
#define CENTRALK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#ifdef CK_FREE
#include <stdlib.h>
#endif

#ifndef CK_K
#define CK_K 1 /* how many entries behind the tail may be used in any order */
#endif
#ifndef CK_SIZE
#define CK_SIZE 4 /* entries of a block */
#endif

#ifndef CK_PUT_ORDER
#define CK_PUT_ORDER memory_order_release
#endif
#ifndef CK_ENTRY_ORDER
#define CK_ENTRY_ORDER memory_order_acquire
#endif
#ifndef CK_TAIL_ORDER
#define CK_TAIL_ORDER memory_order_release
#endif
#ifndef CK_TAIL_LOAD_ORDER
#define CK_TAIL_LOAD_ORDER memory_order_acquire
#endif
#ifndef CK_DEREGISTER_ORDER
#define CK_DEREGISTER_ORDER memory_order_acq_rel
#endif
#ifndef CK_INACTIVE_ORDER
#define CK_INACTIVE_ORDER memory_order_release
#endif
#ifndef CK_REUSE_ORDER
#define CK_REUSE_ORDER memory_order_acquire
#endif
#ifndef CK_NEXT_ORDER
#define CK_NEXT_ORDER memory_order_release
#endif
#ifndef CK_NEXT_LOAD_ORDER
#define CK_NEXT_LOAD_ORDER memory_order_acquire
#endif

enum { CK_TAKEN = -1 };

struct ck_item {
    int task;
    int orig_position;   /* index in the array */
    atomic_int position; /* the same, or CK_TAKEN */
};

struct ck_block {
    _Atomic(struct ck_item *) data[CK_SIZE];
    _Atomic(struct ck_block *) next;
    atomic_int active_threads; /* threads that may still read this block */
    atomic_bool active;
    int offset; /* index in the array of data[0] */
};

/* --- items ----------------------------------------------------------------------------------- */

static inline bool ck_fill(struct ck_block *b, int i, struct ck_item *item)
{
    struct ck_item *empty = NULL;
#ifdef CK_PUT_WEAK
    return atomic_compare_exchange_weak_explicit(&b->data[i], &empty, item, CK_PUT_ORDER,
                                                 memory_order_relaxed);
#else
    return atomic_compare_exchange_strong_explicit(&b->data[i], &empty, item, CK_PUT_ORDER,
                                                   memory_order_relaxed);
#endif
}

/* Tries each of the CK_K entries from tail on once. False: all of them are filled. */
static inline bool ck_put(struct ck_block *b, int tail, struct ck_item *item)
{
    for (int i = tail; i < tail + CK_K; i++) {
        item->orig_position = i;
        atomic_store_explicit(&item->position, i, memory_order_relaxed);
        if (ck_fill(b, i, item))
            return true;
    }
    return false;
}

/* Nobody minds who moves the tail, so a CAS that fails is not repeated. */
static inline void ck_move_tail(atomic_int *tail, int from)
{
#ifdef CK_TAIL_STORE
    atomic_store_explicit(tail, from + CK_K, CK_TAIL_ORDER);
#else
    atomic_compare_exchange_weak_explicit(tail, &from, from + CK_K, CK_TAIL_ORDER,
                                          memory_order_relaxed);
#endif
}

/* False: the block is full. */
static inline bool ck_push(struct ck_block *b, atomic_int *tail, struct ck_item *item)
{
    for (;;) {
        int from = atomic_load_explicit(tail, memory_order_relaxed);
        if (from + CK_K > CK_SIZE)
            return false;
        if (ck_put(b, from, item))
            return true;
        ck_move_tail(tail, from);
    }
}

static inline int ck_tail(atomic_int *tail)
{
    return atomic_load_explicit(tail, CK_TAIL_LOAD_ORDER);
}

static inline struct ck_item *ck_entry(struct ck_block *b, int i)
{
    return atomic_load_explicit(&b->data[i], CK_ENTRY_ORDER);
}

/* True for one thread only. An old position does no harm: the CAS sees the last one. */
static inline bool ck_take(struct ck_item *item)
{
    int position = atomic_load_explicit(&item->position, memory_order_relaxed);
    return position == item->orig_position
           && atomic_compare_exchange_strong_explicit(&item->position, &position, CK_TAKEN,
                                                      memory_order_relaxed, memory_order_relaxed);
}

/* --- blocks ---------------------------------------------------------------------------------- */

static inline void ck_reset(struct ck_block *b)
{
    for (int i = 0; i < CK_SIZE; i++)
        atomic_store_explicit(&b->data[i], NULL, memory_order_relaxed);
    atomic_store_explicit(&b->next, NULL, memory_order_relaxed);
#ifdef CK_RESET_FENCE
    atomic_thread_fence(CK_RESET_FENCE);
#endif
    atomic_store_explicit(&b->active, false, CK_INACTIVE_ORDER);
}

/* This thread will not touch the block again. The last one to say so empties it. */
static inline void ck_deregister(struct ck_block *b)
{
    if (atomic_fetch_sub_explicit(&b->active_threads, 1, CK_DEREGISTER_ORDER) != 1)
        return;
#ifdef CK_LAST_FENCE
    atomic_thread_fence(CK_LAST_FENCE);
#endif
#ifdef CK_FREE
    free(b);
#else
    ck_reset(b);
#endif
}

/* Owner only. Often asked and seldom true: the acquire is left to ck_add_block. */
static inline bool ck_is_reusable(struct ck_block *b)
{
    if (atomic_load_explicit(&b->active, memory_order_relaxed))
        return false;
#ifdef CK_REUSABLE_FENCE
    atomic_thread_fence(CK_REUSABLE_FENCE);
#endif
    return true;
}

/* Owner only, of a reusable block. False: another block is there already. */
static inline bool ck_add_block(struct ck_block *last, struct ck_block *b, int threads)
{
    /* known to be false; read again for the acquire */
    (void)atomic_load_explicit(&b->active, CK_REUSE_ORDER);
    b->offset = last->offset + CK_SIZE;
    atomic_store_explicit(&b->active_threads, threads, memory_order_relaxed);
    atomic_store_explicit(&b->active, true, memory_order_relaxed);
    struct ck_block *next = NULL;
    while (!atomic_compare_exchange_weak_explicit(&last->next, &next, b, CK_NEXT_ORDER,
                                                  memory_order_relaxed)) {
        if (next != NULL)
            return false;
    }
    return true;
}

static inline struct ck_block *ck_next(struct ck_block *b)
{
    return atomic_load_explicit(&b->next, CK_NEXT_LOAD_ORDER);
}

#endif
