/* Each of THREADS threads calls: the function has run once when the call returns. */

#include <assert.h>
#include <pthread.h>

#include "once.h"

#ifndef THREADS
#define THREADS 2
#endif

static struct once once = ONCE_INIT;
static int runs;

static void initialize(void) { runs++; }

static void *caller(void *unused)
{
    once_call(&once, initialize);
    assert(runs == 1);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, caller, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
