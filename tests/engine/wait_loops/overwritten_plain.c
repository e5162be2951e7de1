// As overwritten.c, where the write of the loop comes between those of the other thread.
// sc: assertion
// rc11: race
// imm: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct state {
    atomic_int ready;
    int mark;
} s;

static void *writer(void *p) {
    s.mark = 2;
    atomic_store(&s.ready, 1);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    while (!atomic_load(&s.ready)) s.mark = 0;
    pthread_join(t, 0);
    assert(s.mark == 2);
    return 0;
}
