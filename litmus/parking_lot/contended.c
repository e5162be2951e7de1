/* Each of two threads takes the lock once: never are both inside, and none sleeps for ever. */

#include <assert.h>

#include "lot.h"

static struct lot lot = LOT_EMPTY;
static atomic_int own;
static int x; /* only for the thread inside */

static void *work(void *unused)
{
    lot_lock(&lot, &own);
    x++;
    lot_unlock(&lot, &own);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(x == 2);
    return 0;
}
