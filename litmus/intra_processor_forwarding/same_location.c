/* Both threads write x and read it back. Each may see the other's store instead of its own, but not
   both: forwarding never breaks the order of the stores to one location. */

#include <assert.h>
#include <pthread.h>

#include "forwarding.h"

static atomic_int x;
static int r0, r1;

static void *first(void *unused)
{
    r0 = fwd_store_and_read_back(&x, 1);
    return unused;
}

static void *second(void *unused)
{
    r1 = fwd_store_and_read_back(&x, 2);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(!(r0 == 2 && r1 == 1));
    return 0;
}
