/* Two threads want the same item: exactly one takes it. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_item item;
static bool first, second;

static void *taker(void *taken)
{
    *(bool *)taken = ck_take(&item);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, taker, &first);
    pthread_create(&b, NULL, taker, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(first != second);
    return 0;
}
