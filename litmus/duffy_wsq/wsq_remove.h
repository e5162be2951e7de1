/* Taking a given element out of the queue, wherever it is ("Building a custom thread pool", part 3,
   Remove). Elements are not 0: a 0 stands where one was removed, and pops and steals start again when
   they come upon it.

   The published code does two things otherwise, and each gives an element twice:

     WSQ_REMOVE_BY_VALUE  if defined: under the lock, the slot is looked at again, but not whether head
                          has passed it; a steal leaves the value in the slot
     WSQ_REMOVE_BEHIND    if defined: head moves on for the element behind the one at head, so that the
                          one at head is lost and the removed one comes next

   and one thing that nobody may leave out:

     WSQ_NO_RESTART       if defined: a pop or steal that comes upon a 0 takes it for an element */

#ifndef WSQ_REMOVE_H
#define WSQ_REMOVE_H

#include "wsq.h"

#ifdef WSQ_REMOVE_BEHIND
enum { WSQ_FIRST = 1 };
#else
enum { WSQ_FIRST = 0 };
#endif

/* Under the lock: the element at index i goes. False: a thief has it. */
static inline bool wsq_remove_at(struct wsq *q, int i, int value)
{
    int head = atomic_load_explicit(&q->head, memory_order_relaxed);
    int tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
#ifndef WSQ_REMOVE_BY_VALUE
    if (i < head)
        return false;
#endif
    if (q->slot[i & q->mask] != value)
        return false;
    if (i == tail - 1)
        atomic_store_explicit(&q->tail, tail - 1, memory_order_release);
    else if (i == head + WSQ_FIRST)
        atomic_store_explicit(&q->head, head + 1, memory_order_release);
    else
        q->slot[i & q->mask] = 0;
    return true;
}

/* Owner only. False: it is not there, or a thief was faster. */
static inline bool wsq_remove(struct wsq *q, int value)
{
    int i = atomic_load_explicit(&q->tail, memory_order_relaxed) - 1;
    int first = atomic_load_explicit(&q->head, memory_order_relaxed) + WSQ_FIRST;
    while (i >= first && q->slot[i & q->mask] != value)
        i--;
    if (i < first)
        return false;
    pthread_mutex_lock(&q->lock);
    bool removed = wsq_remove_at(q, i, value);
    pthread_mutex_unlock(&q->lock);
    return removed;
}

static inline bool wsq_is_element(int value)
{
#ifdef WSQ_NO_RESTART
    (void)value;
    return true;
#else
    return value != 0;
#endif
}

/* Owner only. */
static inline bool wsq_pop_element(struct wsq *q, int *value)
{
    while (wsq_pop(q, value)) {
        if (wsq_is_element(*value))
            return true;
    }
    return false;
}

static inline bool wsq_steal_element(struct wsq *q, int *value)
{
    while (wsq_try_steal(q, value)) {
        if (wsq_is_element(*value))
            return true;
    }
    return false;
}

#endif
