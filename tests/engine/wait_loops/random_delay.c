// A lock that pauses for a random time between two attempts, with numbers of the thread's own.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
// -DOBSERVED sc: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
int count;
atomic_int taken;
_Thread_local unsigned state = 1;

static unsigned number(void) {
    unsigned x = state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return state = x;
}

static void rest(unsigned most) {
    for (unsigned rounds = number() & most; rounds > 0; rounds--)
        atomic_signal_fence(memory_order_seq_cst);
}

static void *add(void *p) {
    unsigned most = 7;
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
        rest(most);
        most = most * 8 + 7;
    }
#ifdef OBSERVED
    assert(state == 1);
#endif
    count++;
    atomic_store_explicit(&taken, 0, RELEASE);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    return 0;
}
