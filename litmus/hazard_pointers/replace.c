/* READERS read an object VISITS times; a writer replaces it, REPLACEMENTS times, and frees it when
   nobody uses it. */

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef READERS
#define READERS 1
#endif
#ifndef REPLACEMENTS
#define REPLACEMENTS 1
#endif
#ifndef VISITS
#define VISITS 1
#endif
#define HAZARD_READERS READERS

#include "hazard.h"

static struct hazards hazards;
static struct object *_Atomic shared;
static const int number[2] = {0, 1};

static struct object *made(int value)
{
    struct object *o = malloc(sizeof *o);
    o->value = value;
    return o;
}

static void *reader(void *own)
{
    int mine = *(const int *)own;
    for (int i = 0; i < VISITS; i++) {
        struct object *found = hazard_protect(&hazards, mine, &shared);
        assert(found->value >= 1);
        hazard_clear(&hazards, mine);
    }
    return NULL;
}

static void *writer(void *unused)
{
    for (int i = 0; i < REPLACEMENTS; i++) {
        struct object *old = atomic_exchange_explicit(&shared, made(i + 2), memory_order_release);
        if (hazard_scan(&hazards, old))
            free(old);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[1 + READERS];
    atomic_init(&shared, made(1));
    pthread_create(&threads[0], NULL, writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[1 + i], NULL, reader, (void *)&number[i]);
    for (int i = 0; i < 1 + READERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
