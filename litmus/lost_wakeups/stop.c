/* A thread that runs while it is active, and a stop that clears the flag and notifies. The flag is
   read under the mutex. REPAIRED: it is cleared under the mutex. NOTIFY_OUTSIDE: and the notification
   comes after the unlock, which is no error. */

#include "waiting.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int active = 1;

static void *stop(void *unused)
{
#ifdef REPAIRED
    pthread_mutex_lock(&mutex);
#endif
    active = 0;
#ifdef NOTIFY_OUTSIDE
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_broadcast(&changed);
#ifdef REPAIRED
    pthread_mutex_unlock(&mutex);
#endif
#endif
    return unused;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (active)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) { run(stop, work); }
