/* The two threads announce themselves under one lock: the second to take it sees the first. */

#define DEKKER_LOCKED

#include <assert.h>

#include "dekker.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int x, y;
static int r1, r2;

static void *first(void *unused)
{
    r1 = dekker_announce_and_look(&lock, &x, &y);
    return unused;
}

static void *second(void *unused)
{
    r2 = dekker_announce_and_look(&lock, &y, &x);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r1 == 1 || r2 == 1);
    return 0;
}
