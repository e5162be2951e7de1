// A thread that sleeps longer each time it has looked in vain, and spins for a while before.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
// -DWEAK imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
int data;
atomic_int ready;

struct backoff {
    int rounds;
    struct timespec pause;
};

static void wait(struct backoff *b) {
    if (b->rounds < 16) {
        b->rounds++;
        for (volatile int i = 0; i < 10; i++) ;
        return;
    }
    nanosleep(&b->pause, 0);
    if (b->pause.tv_nsec < 1000000) b->pause.tv_nsec *= 2;
}

static void *writer(void *p) {
    data = 1;
    atomic_store_explicit(&ready, 1, RELEASE);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    struct backoff b = {0, {0, 1000}};
    while (!atomic_load_explicit(&ready, memory_order_acquire)) wait(&b);
    assert(data == 1);
    pthread_join(t, 0);
    return 0;
}
