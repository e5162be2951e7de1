/* A queue of notifications whose wake_all wakes those that wait. A worker that looks at the stop flag
   before, and waits after, is not among them. REPAIRED: wake_all leaves a mark, which a worker looks
   for before it waits. */

#include "waiting.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static atomic_int stopped;
static int is_waiting, woke_up;

static void wake_all(void)
{
    pthread_mutex_lock(&mutex);
    is_waiting = 0;
#ifdef REPAIRED
    woke_up = 1;
#endif
    pthread_cond_broadcast(&woken);
    pthread_mutex_unlock(&mutex);
}

static void wait_dequeue(void)
{
    pthread_mutex_lock(&mutex);
    if (!woke_up) {
        is_waiting = 1;
        while (is_waiting)
            pthread_cond_wait(&woken, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void *stop(void *unused)
{
    stopped = 1;
    wake_all();
    return unused;
}

static void *work(void *unused)
{
    if (!stopped)
        wait_dequeue();
    return unused;
}

int main(void) { run(stop, work); }
