// Not a wait loop: main reads the counter when the thread has ended.
// sc,rc11,imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct state {
    atomic_int ready;
    int spins;
} s;

static void *reader(void *p) {
    while (!atomic_load(&s.ready)) s.spins++;
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    atomic_store(&s.ready, 1);
    pthread_join(t, 0);
    assert(s.spins < 2);
    return 0;
}
