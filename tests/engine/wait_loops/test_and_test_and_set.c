// A lock that is read until it seems free, and only then exchanged, with waiting times.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
// -DWEAK imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
atomic_int locked;
int count;

static void lock(void) {
    int delay = 8, spins = 0;
    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire)) {
        do {
            for (volatile int i = 0; i < delay; i++) ;
            if (++spins == 50) spins = 0, delay *= 2;
        } while (atomic_load_explicit(&locked, memory_order_relaxed));
    }
}

static void *add(void *p) {
    lock();
    count++;
    atomic_store_explicit(&locked, 0, RELEASE);
    return p;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(count == 3);
    return 0;
}
