/* The store that the first thread misses is seen by a third thread, which misses the first's: the
   writer and the observer must not disagree on which store came first. */

#include <assert.h>
#include <pthread.h>

#include "forwarding.h"

static atomic_int x, y;
static int r0, r1, r2, r3;

static void *reads_back(void *unused)
{
    r0 = fwd_store_and_read_back(&x, 1);
    r1 = fwd_look(&y);
    return unused;
}

static void *writes(void *unused)
{
    atomic_store_explicit(&y, 1, FWD_STORE_ORDER);
    return unused;
}

static void *observes(void *unused)
{
    r2 = fwd_look(&y);
    r3 = fwd_look(&x);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, reads_back, NULL);
    pthread_create(&b, NULL, writes, NULL);
    pthread_create(&c, NULL, observes, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(r0 == 1);
    assert(r1 == 1 || !(r2 == 1 && r3 == 0));
    return 0;
}
