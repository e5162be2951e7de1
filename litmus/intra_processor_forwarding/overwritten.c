/* The second thread overwrites x after its own store to y. If x = 1 is the last store to x, the second
   thread had finished before it, and the first must see y = 1. */

#include <assert.h>
#include <pthread.h>

#include "forwarding.h"

static atomic_int x, y;
static int r0, r1;

static void *reads_back(void *unused)
{
    r0 = fwd_store_and_read_back(&x, 1);
    r1 = fwd_look(&y);
    return unused;
}

static void *overwrites(void *unused)
{
    atomic_store_explicit(&y, 1, FWD_STORE_ORDER);
    atomic_store_explicit(&x, 2, FWD_STORE_ORDER);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reads_back, NULL);
    pthread_create(&b, NULL, overwrites, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int last = atomic_load_explicit(&x, memory_order_relaxed);
    assert(!(last == 1 && r0 == 1 && r1 == 0));
    return 0;
}
