// Not a wait loop: main checks the number of attempts that the threads have counted.
// sc,rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int locked;
atomic_int spins;

static void *add(void *p) {
    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire))
        atomic_fetch_add_explicit(&spins, 1, memory_order_relaxed);
    atomic_store_explicit(&locked, 0, memory_order_release);
    return p;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(spins < 3);
    return 0;
}
