/* A ring of requests between a guest and its host. The host asks for a kick, looks at the ring once
   more, and sleeps; the guest publishes a request and kicks if it is asked to. */

#include "waiting.h"

#include <semaphore.h>

static atomic_int rear, need_wakeup;
static sem_t kick;

static void *guest(void *unused)
{
    atomic_store_explicit(&rear, 1, memory_order_release);
    FENCE();
    if (atomic_load_explicit(&need_wakeup, memory_order_acquire))
        sem_post(&kick);
    return unused;
}

static void *host(void *unused)
{
    atomic_store_explicit(&need_wakeup, 1, memory_order_release);
    FENCE();
    if (atomic_load_explicit(&rear, memory_order_acquire) == 0)
        sem_wait(&kick);
    return unused;
}

int main(void)
{
    sem_init(&kick, 0, 0);
    run(guest, host);
}
