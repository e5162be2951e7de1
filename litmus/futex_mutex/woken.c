/* The mutex is held, and marked: two threads sleep, or are about to. Each tries once when it is woken:
   who takes the mutex has to wake the other when it leaves. */

#include "mutex.h"

#include <assert.h>
#include <pthread.h>

static struct mutex own = {2};
static int x; /* only for the thread inside */

static void *sleeper(void *unused)
{
    futex_wait(&own.word, 2);
    if (mutex_change(&own, 0, MUTEX_AGAIN) == 0) {
        x++;
        assert(x == 1);
        x--;
        mutex_unlock(&own);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, sleeper, NULL);
    mutex_unlock(&own);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
