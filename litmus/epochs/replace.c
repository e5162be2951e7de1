/* A reader reads the shared object VISITS times, each time in an epoch; a writer takes the object away,
   advances the epoch up to ADVANCES times, and frees the object when its time has come. With ADVANCER,
   another thread advances it too. */

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef VISITS
#define VISITS 1
#endif
#ifndef ADVANCES
#define ADVANCES 2
#endif
#define EPOCH_THREADS 1

#include "epochs.h"

struct object {
    int value;
};

static struct epochs epochs;
static struct object *_Atomic shared;

static void *reader(void *unused)
{
    for (int i = 0; i < VISITS; i++) {
        epoch_enter(&epochs, 0);
        struct object *found = atomic_load_explicit(&shared, memory_order_acquire);
        if (found)
            assert(found->value == 1);
        epoch_leave(&epochs, 0);
    }
    return unused;
}

static void *writer(void *unused)
{
    struct object *old = atomic_exchange_explicit(&shared, NULL, memory_order_relaxed);
    unsigned retired = epoch_retire(&epochs);
    for (int i = 0; i < ADVANCES; i++) {
        if (epoch_over(retired, epoch_advance(&epochs))) {
            free(old);
            break;
        }
    }
    return unused;
}

#ifdef ADVANCER
static void *advancer(void *unused)
{
    epoch_advance(&epochs);
    return unused;
}
#endif

int main(void)
{
    pthread_t threads[3];
    int count = 2;
    struct object *object = malloc(sizeof *object);
    object->value = 1;
    atomic_init(&shared, object);
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
#ifdef ADVANCER
    pthread_create(&threads[count++], NULL, advancer, NULL);
#endif
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
