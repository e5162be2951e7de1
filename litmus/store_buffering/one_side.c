/* Only the first thread follows the macros; the second announces itself with release and looks with
   acquire. A repair on one side is none: both can still miss each other. */

#include <assert.h>
#include <pthread.h>

#include "sb.h"

static atomic_int x, y;
static int r0, r1;

static void *repaired(void *unused)
{
    r0 = sb_announce_and_look(&x, &y);
    return unused;
}

static void *as_it_was(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_release);
    r1 = atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, repaired, NULL);
    pthread_create(&b, NULL, as_it_was, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r0 == 1 || r1 == 1);
    return 0;
}
