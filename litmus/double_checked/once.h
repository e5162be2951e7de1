/* Double-checked initialization: the lock is taken only while nothing is initialized.

   Schmidt, Harrison, "Double-checked locking", Pattern Languages of Program Design 3, 1997. That its
   first look needs an order was published by Bacon et al., "The 'double-checked locking is broken'
   declaration", and by Meyers, Alexandrescu, "C++ and the perils of double-checked locking", Dr.
   Dobb's Journal, 2004. The second look is under the lock, which orders it.

     ONCE_SEE_ORDER   the first look                            (acquire)
     ONCE_DONE_ORDER  the store after the function has run      (release)
     ONCE_ONE_LOOK    if defined, there is no second look
     ONCE_EARLY       if defined, the store comes before the function runs */

#ifndef ONCE_H
#define ONCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef ONCE_SEE_ORDER
#define ONCE_SEE_ORDER memory_order_acquire
#endif
#ifndef ONCE_DONE_ORDER
#define ONCE_DONE_ORDER memory_order_release
#endif

struct once {
    atomic_bool done;
    pthread_mutex_t lock;
};

#define ONCE_INIT {false, PTHREAD_MUTEX_INITIALIZER}

static inline bool once_is_left(struct once *o)
{
#ifdef ONCE_ONE_LOOK
    (void)o;
    return true;
#else
    return !atomic_load_explicit(&o->done, memory_order_relaxed);
#endif
}

/* The function has run when this returns. */
static inline void once_call(struct once *o, void (*function)(void))
{
    if (atomic_load_explicit(&o->done, ONCE_SEE_ORDER))
        return;
    pthread_mutex_lock(&o->lock);
    if (once_is_left(o)) {
#ifdef ONCE_EARLY
        atomic_store_explicit(&o->done, true, ONCE_DONE_ORDER);
        function();
#else
        function();
        atomic_store_explicit(&o->done, true, ONCE_DONE_ORDER);
#endif
    }
    pthread_mutex_unlock(&o->lock);
}

#endif
