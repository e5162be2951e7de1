// Not a wait loop: the attempts are counted in a field of the shared structure.
// sc,rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct state {
    atomic_int ready;
    int attempts;
} s;

static void *writer(void *p) {
    atomic_store(&s.ready, 1);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    while (!atomic_load(&s.ready))
        if (++s.attempts == 3) break;
    assert(atomic_load(&s.ready));
    pthread_join(t, 0);
    return 0;
}
