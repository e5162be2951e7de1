// A spin lock that counts, in its own structure, how often threads had to wait. Nobody reads it.
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
struct lock {
    atomic_int locked;
    atomic_ulong spins;
} lock;
int count;

static void *add(void *p) {
    while (atomic_exchange_explicit(&lock.locked, 1, memory_order_acquire))
        atomic_fetch_add_explicit(&lock.spins, 1, memory_order_relaxed);
    count++;
    atomic_store_explicit(&lock.locked, 0, RELEASE);
    return p;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(count == 2);
    return 0;
}
