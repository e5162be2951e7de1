// A lock that spins a number of times over all its attempts, and then sleeps for a constant time.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
int count;
atomic_int taken;

static void rest(unsigned *spins) {
    if (*spins < 4000) {
        ++*spins;
    } else {
        struct timespec pause = {0, 500000};
        nanosleep(&pause, 0);
    }
}

static void *add(void *p) {
    unsigned spins = 0;
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&taken, &free, 1, memory_order_acquire,
                                                    memory_order_relaxed)) {
        free = 0;
        do rest(&spins);
        while (atomic_load_explicit(&taken, memory_order_relaxed));
    }
    count++;
    atomic_store_explicit(&taken, 0, RELEASE);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    return 0;
}
