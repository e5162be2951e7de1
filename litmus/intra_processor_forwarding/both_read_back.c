/* Each thread reads its own store back, then looks at the other's store: at least one must see it. */

#include <assert.h>
#include <pthread.h>

#include "forwarding.h"

static atomic_int x, y;
static int r0, r1, r2, r3;

static void *first(void *unused)
{
    r0 = fwd_store_and_read_back(&x, 1);
    r1 = fwd_look(&y);
    return unused;
}

static void *second(void *unused)
{
    r2 = fwd_store_and_read_back(&y, 1);
    r3 = fwd_look(&x);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r0 == 1 && r2 == 1);
    assert(r1 == 1 || r3 == 1);
    return 0;
}
