// A wait that counts and that nothing ends: a hang, whatever it counts.
// sc,tso,rc11,imm: hang
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
struct state {
    atomic_int ready;
    atomic_long spins;
    int seen;
} s;

static void *reader(void *p) {
    int n = 0;
    while (atomic_load(&s.ready) != 2) {
        atomic_fetch_add(&s.spins, 1);
        s.seen = 1;
        if (++n > 10) sched_yield();
    }
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    atomic_store(&s.ready, 1);
    pthread_join(t, 0);
    return 0;
}
