// Six additions by compare-exchanges that retry with the value that they have read, and wait longer
// each time.
// sc,tso,rc11,imm: Safe
// -DLOST sc: assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
atomic_int sum;

static void add(void) {
    int seen = atomic_load_explicit(&sum, memory_order_relaxed), n = 1;
#ifdef LOST
    atomic_store_explicit(&sum, seen + 1, memory_order_relaxed);
    return;
#endif
    while (!atomic_compare_exchange_weak_explicit(&sum, &seen, seen + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
        for (int i = 0; i < n; i++) sched_yield();
        n *= 2;
    }
}

static void *twice(void *p) {
    add();
    add();
    return p;
}

static void *thrice(void *p) {
    add();
    add();
    add();
    return p;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, twice, 0);
    pthread_create(&t[1], 0, thrice, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(sum == 5);
    return 0;
}
