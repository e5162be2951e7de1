// A queue for one producer and one consumer; each end caches the index of the other in a field of
// the queue that it alone uses (rigtorp's SPSCQueue).
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
// -DWEAK imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
#define SLOTS 2

struct queue {
    atomic_uint write;
    unsigned read_cache;
    atomic_uint read;
    unsigned write_cache;
    int slots[SLOTS];
} q;

static bool try_push(int v) {
    unsigned write = atomic_load_explicit(&q.write, memory_order_relaxed);
    unsigned next = write + 1 == SLOTS ? 0 : write + 1;
    if (next == q.read_cache) {
        q.read_cache = atomic_load_explicit(&q.read, memory_order_acquire);
        if (next == q.read_cache) return false;
    }
    q.slots[write] = v;
    atomic_store_explicit(&q.write, next, RELEASE);
    return true;
}

static bool try_pop(int *v) {
    unsigned read = atomic_load_explicit(&q.read, memory_order_relaxed);
    if (read == q.write_cache) {
        q.write_cache = atomic_load_explicit(&q.write, memory_order_acquire);
        if (read == q.write_cache) return false;
    }
    *v = q.slots[read];
    atomic_store_explicit(&q.read, read + 1 == SLOTS ? 0 : read + 1, memory_order_release);
    return true;
}

static void *produce(void *p) {
    for (int i = 1; i <= 2; i++) while (!try_push(i)) ;
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, produce, 0);
    for (int i = 1; i <= 2; i++) {
        int v;
        while (!try_pop(&v)) ;
        assert(v == i);
    }
    pthread_join(t, 0);
    return 0;
}
