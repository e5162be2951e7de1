// Not a wait loop: the attempts, counted in a variable of the thread's own, are read in a second
// expression.
// sc,rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
int attempts;

static void *writer(void *p) {
    atomic_store(&ready, 1);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    while (!atomic_load(&ready)) {
        if (attempts == 2) break;
        attempts++;
    }
    assert(atomic_load(&ready));
    pthread_join(t, 0);
    return 0;
}
