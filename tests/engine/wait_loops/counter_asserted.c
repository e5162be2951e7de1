// Not a wait loop: the counter is asserted on when the loop has ended.
// sc,rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;

static void *writer(void *p) {
    atomic_store(&ready, 1);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int n = 0;
    while (!atomic_load(&ready)) n++;
    assert(n < 2);
    pthread_join(t, 0);
    return 0;
}
