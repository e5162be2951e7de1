// As statistics.c, with plain counters in a structure for each thread.
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
struct worker {
    long spins;
    int done;
} workers[2];
atomic_int locked;
int count;

static void *add(void *p) {
    struct worker *me = p;
    while (atomic_exchange_explicit(&locked, 1, memory_order_acquire)) me->spins++;
    count++;
    atomic_store_explicit(&locked, 0, RELEASE);
    me->done = 1;
    return p;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, add, &workers[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(count == 2 && workers[0].done && workers[1].done);
    return 0;
}
