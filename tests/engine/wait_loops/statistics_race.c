// As statistics.c, with a counter that is not atomic: that nobody reads it does not make it safe.
// sc: Safe
// rc11: race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct lock {
    atomic_int locked;
    unsigned long spins;
} lock;
int count;

static void *add(void *p) {
    while (atomic_exchange_explicit(&lock.locked, 1, memory_order_acquire)) lock.spins++;
    count++;
    atomic_store_explicit(&lock.locked, 0, memory_order_release);
    return p;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(count == 3);
    return 0;
}
