// Not a wait loop: what the loop writes, always the same value, overwrites what another thread
// writes.
// sc,rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready, mark;

static void *writer(void *p) {
    atomic_store(&mark, 2);
    atomic_store(&ready, 1);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    do atomic_store(&mark, 1);
    while (!atomic_load(&ready));
    assert(atomic_load(&mark) == 1);
    pthread_join(t, 0);
    return 0;
}
