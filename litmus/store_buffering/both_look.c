/* Two threads announce themselves and look for each other: at least one must see the other. */

#include <assert.h>
#include <pthread.h>

#include "sb.h"

static atomic_int x, y;
static int r0, r1;

static void *first(void *unused)
{
    r0 = sb_announce_and_look(&x, &y);
    return unused;
}

static void *second(void *unused)
{
    r1 = sb_announce_and_look(&y, &x);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r0 == 1 || r1 == 1);
    return 0;
}
