// Not a wait loop: another thread waits for the counter, so the threads do not hang.
// sc,rc11,imm: Unknown: changes what counter_read.c:12:9 writes, which thread 0 accesses at counter_read.c:19:12
#include <pthread.h>
#include <stdatomic.h>
struct state {
    atomic_int ready;
    atomic_int spins;
} s;

static void *reader(void *p) {
    while (!atomic_load_explicit(&s.ready, memory_order_relaxed))
        atomic_fetch_add_explicit(&s.spins, 1, memory_order_relaxed);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    while (atomic_load_explicit(&s.spins, memory_order_relaxed) < 3) ;
    atomic_store_explicit(&s.ready, 1, memory_order_relaxed);
    pthread_join(t, 0);
    return 0;
}
