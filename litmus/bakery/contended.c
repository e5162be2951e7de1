/* Each of two threads takes the lock ROUNDS times: never are both inside. */

#include <assert.h>
#include <pthread.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

#include "bakery.h"

static struct bakery lock;
static int x; /* only for the thread inside */
static const int number[2] = {0, 1};

static void *work(void *own)
{
    int mine = *(const int *)own;
    for (int round = 0; round < ROUNDS; round++) {
        bakery_lock(&lock, mine);
        x++;
        bakery_unlock(&lock, mine);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)&number[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(x == 2 * ROUNDS);
    return 0;
}
