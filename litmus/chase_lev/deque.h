/* The work-stealing deque of Chase and Lev: the owner works at the bottom, thieves steal at the top.

   David Chase, Yossi Lev, "Dynamic circular work-stealing deque", SPAA 2005, with the memory orders of
   Lê, Pop, Cohen, Zappa Nardelli, "Correct and efficient work-stealing for weak memory models",
   PPoPP 2013, figure 1. Owner and thief compete only for the last item, by compare-exchange on top; the
   two seq_cst fences make one of them see the other. A full array is replaced by one twice as large, in
   which each item has its index; thieves may still read the old one, which is not freed.

     CL_PUSH_FENCE   push: fence before bottom is stored             (release)
     CL_ARRAY_ORDER  push: the larger array is published             (release)
     CL_TAKE_FENCE   take: fence between bottom and top              (seq_cst)
     CL_STEAL_FENCE  steal: fence between top and bottom             (seq_cst)
     CL_NO_RACE      if defined, take does not compete for the last item */

#ifndef DEQUE_H
#define DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>

#ifndef CL_PUSH_FENCE
#define CL_PUSH_FENCE memory_order_release
#endif
#ifndef CL_ARRAY_ORDER
#define CL_ARRAY_ORDER memory_order_release
#endif
#ifndef CL_TAKE_FENCE
#define CL_TAKE_FENCE memory_order_seq_cst
#endif
#ifndef CL_STEAL_FENCE
#define CL_STEAL_FENCE memory_order_seq_cst
#endif

enum { CL_ROOM = 4 };

struct cl_array {
    int size;
    atomic_int item[CL_ROOM];
};

struct deque {
    atomic_int top, bottom;
    _Atomic(struct cl_array *) array;
    struct cl_array small, large;
};

static inline void deque_init(struct deque *q)
{
    q->small.size = 2;
    q->large.size = CL_ROOM;
    atomic_init(&q->array, &q->small);
}

static inline struct cl_array *deque_grow(struct deque *q, struct cl_array *old, int top, int bottom)
{
    for (int i = top; i < bottom; i++) {
        int item = atomic_load_explicit(&old->item[i % old->size], memory_order_relaxed);
        atomic_store_explicit(&q->large.item[i % CL_ROOM], item, memory_order_relaxed);
    }
    atomic_store_explicit(&q->array, &q->large, CL_ARRAY_ORDER);
    return &q->large;
}

/* Only the owner. */
static inline void deque_push(struct deque *q, int item)
{
    int bottom = atomic_load_explicit(&q->bottom, memory_order_relaxed);
    int top = atomic_load_explicit(&q->top, memory_order_acquire);
    struct cl_array *array = atomic_load_explicit(&q->array, memory_order_relaxed);
    if (bottom - top == array->size)
        array = deque_grow(q, array, top, bottom);
    atomic_store_explicit(&array->item[bottom % array->size], item, memory_order_relaxed);
    atomic_thread_fence(CL_PUSH_FENCE);
    atomic_store_explicit(&q->bottom, bottom + 1, memory_order_relaxed);
}

static inline bool deque_wins(struct deque *q, int top)
{
    return atomic_compare_exchange_strong_explicit(&q->top, &top, top + 1, memory_order_seq_cst,
                                                   memory_order_relaxed);
}

/* Only the owner; 0 if there is no item. */
static inline int deque_take(struct deque *q)
{
    int bottom = atomic_load_explicit(&q->bottom, memory_order_relaxed) - 1;
    struct cl_array *array = atomic_load_explicit(&q->array, memory_order_relaxed);
    atomic_store_explicit(&q->bottom, bottom, memory_order_relaxed);
    atomic_thread_fence(CL_TAKE_FENCE);
    int top = atomic_load_explicit(&q->top, memory_order_relaxed), item = 0;
    if (top <= bottom) {
        item = atomic_load_explicit(&array->item[bottom % array->size], memory_order_relaxed);
        if (top < bottom)
            return item;
#ifdef CL_NO_RACE
        atomic_store_explicit(&q->top, top + 1, memory_order_relaxed);
#else
        if (!deque_wins(q, top))
            item = 0;
#endif
    }
    atomic_store_explicit(&q->bottom, bottom + 1, memory_order_relaxed);
    return item;
}

/* Any thread; 0 if there is no item, or another thread was faster. */
static inline int deque_steal(struct deque *q)
{
    int top = atomic_load_explicit(&q->top, memory_order_acquire);
    atomic_thread_fence(CL_STEAL_FENCE);
    int bottom = atomic_load_explicit(&q->bottom, memory_order_acquire);
    if (top >= bottom)
        return 0;
    struct cl_array *array = atomic_load_explicit(&q->array, memory_order_acquire);
    int item = atomic_load_explicit(&array->item[top % array->size], memory_order_relaxed);
    return deque_wins(q, top) ? item : 0;
}

#endif
