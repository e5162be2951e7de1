/* The thread of main holds the lock while two others come for it, one of which may find it free. */

#include <assert.h>

#include "lot.h"

static struct lot lot = LOT_EMPTY;
static atomic_int own = LOT_HELD;
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
    x++;
    lot_unlock(&lot, &own);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(x == 3);
    return 0;
}
