/* The first thread follows the macros; the second stores and looks at once. */

#include <assert.h>
#include <pthread.h>

#include "forwarding.h"

static atomic_int x, y;
static int r0, r1, r2;

static void *reads_back(void *unused)
{
    r0 = fwd_store_and_read_back(&x, 1);
    r1 = fwd_look(&y);
    return unused;
}

static void *looks_at_once(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_release);
    r2 = fwd_look(&x);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reads_back, NULL);
    pthread_create(&b, NULL, looks_at_once, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r0 == 1);
    assert(r1 == 1 || r2 == 1);
    return 0;
}
