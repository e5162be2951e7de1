// A thread that yields when it has looked a hundred times.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
// -DWEAK imm: assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
int data;
atomic_int ready;

static void *writer(void *p) {
    data = 1;
    atomic_store_explicit(&ready, 1, RELEASE);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int n = 0;
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        if (++n > 100) {
            sched_yield();
            n = 0;
        }
    assert(data == 1);
    pthread_join(t, 0);
    return 0;
}
