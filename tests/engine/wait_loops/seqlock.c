// A sequence lock: the reader copies the data to memory, and retries when a writer was there.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
struct pair {
    int a, b;
};
atomic_uint sequence;
atomic_int a, b;
unsigned retries;

static void *writer(void *p) {
    for (int i = 1; i <= 3; i++) {
        unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
        atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
        atomic_thread_fence(RELEASE);
        atomic_store_explicit(&a, i, memory_order_relaxed);
        atomic_store_explicit(&b, i, memory_order_relaxed);
        atomic_store_explicit(&sequence, s + 2, memory_order_release);
    }
    return p;
}

static struct pair *copy(struct pair *out) {
    for (;; retries++) {
        unsigned s = atomic_load_explicit(&sequence, memory_order_acquire);
        if (s & 1) continue;
        out->a = atomic_load_explicit(&a, memory_order_relaxed);
        out->b = atomic_load_explicit(&b, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&sequence, memory_order_relaxed) == s) return out;
    }
}

int main(void) {
    pthread_t t;
    struct pair *(*volatile through)(struct pair *) = copy;
    struct pair found;
    pthread_create(&t, 0, writer, 0);
    struct pair *seen = through(&found);
    assert(seen->a == seen->b);
    pthread_join(t, 0);
    return 0;
}
