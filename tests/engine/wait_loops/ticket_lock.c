// A ticket lock with proportional waiting: the longer the queue, the longer the pause.
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
atomic_uint next, serving;
int count;

static void *add(void *p) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed), now;
    while ((now = atomic_load_explicit(&serving, memory_order_acquire)) != mine)
        for (unsigned i = 0; i < (mine - now) * 50; i++) __builtin_ia32_pause();
    count++;
    atomic_store_explicit(&serving, mine + 1, RELEASE);
    return p;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(count == 3);
    return 0;
}
