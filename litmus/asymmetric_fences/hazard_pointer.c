/* A hazard pointer: a reader announces which object it uses and looks whether the object is still
   there; who replaces the object looks whether a reader has announced it. Readers are many, so that
   their fence is the light one. */

#include "fences.h"

static int *_Atomic shared;
static int *_Atomic hazard;

static void *reader(void *unused)
{
    int *object = atomic_load_explicit(&shared, memory_order_relaxed);
    atomic_store_explicit(&hazard, object, memory_order_relaxed);
    light();
    if (object && atomic_load_explicit(&shared, memory_order_relaxed) == object)
        assert(*object == 1);
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return unused;
}

static void *writer(void *unused)
{
    int *old = atomic_exchange_explicit(&shared, NULL, memory_order_relaxed);
    heavy();
    if (atomic_load_explicit(&hazard, memory_order_acquire) != old)
        free(old);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    int *object = malloc(sizeof *object);
    *object = 1;
    atomic_init(&shared, object);
    prepare();
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, writer, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
