// A test-and-set lock whose waiting time doubles.
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
    unsigned delay = 1;
    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire)) {
        for (unsigned i = 0; i < delay; i++) __builtin_ia32_pause();
        if (delay < 1024) delay *= 2;
    }
}

static void *add(void *p) {
    lock();
    count++;
    atomic_store_explicit(&locked, 0, RELEASE);
    return p;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(count == 2);
    return 0;
}
