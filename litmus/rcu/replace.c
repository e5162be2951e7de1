/* A reader reads an object; an updater publishes another in its place, waits for a grace period and frees
   the old one. GRACE_PERIODS grace periods come before. */

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "rcu.h"

#ifndef GRACE_PERIODS
#define GRACE_PERIODS 0
#endif
#ifndef VISITS
#define VISITS 1
#endif

struct object {
    int value;
};

static struct rcu rcu;
static struct object *_Atomic shared;

static struct object *made(int value)
{
    struct object *o = malloc(sizeof *o);
    o->value = value;
    return o;
}

static void *reader(void *unused)
{
    for (int i = 0; i < VISITS; i++) {
        rcu_read_lock(&rcu, 0);
        struct object *found = atomic_load_explicit(&shared, RCU_DEREFERENCE_ORDER);
        assert(found->value >= 1);
        rcu_read_unlock(&rcu, 0);
    }
    return unused;
}

static void *updater(void *unused)
{
    for (int i = 0; i < GRACE_PERIODS; i++)
        rcu_synchronize(&rcu);
    struct object *old = atomic_load_explicit(&shared, memory_order_relaxed);
    atomic_store_explicit(&shared, made(2), RCU_ASSIGN_ORDER);
#ifndef FREED_AT_ONCE
    rcu_synchronize(&rcu);
#endif
    free(old);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    rcu_init(&rcu);
    atomic_init(&shared, made(1));
    pthread_create(&threads[0], NULL, updater, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
