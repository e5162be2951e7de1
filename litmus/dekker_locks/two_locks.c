/* Each thread announces itself under a lock of its own and looks for the other: at least one must see
   the other. Without DEKKER_LOCKED there are no locks. */

#include <assert.h>

#include "dekker.h"

static pthread_mutex_t l1 = PTHREAD_MUTEX_INITIALIZER, l2 = PTHREAD_MUTEX_INITIALIZER;
static atomic_int x, y;
static int r1, r2;

static void *first(void *unused)
{
    r1 = dekker_announce_and_look(&l1, &x, &y);
    return unused;
}

static void *second(void *unused)
{
    r2 = dekker_announce_and_look(&l2, &y, &x);
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
