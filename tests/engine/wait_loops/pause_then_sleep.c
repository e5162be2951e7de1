// A lock that pauses once and sleeps from then on, for a time that is set up anew in each round.
// sc,tso,rc11,imm: Safe
// -DWEAK rc11: race
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#ifdef WEAK
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif
int count;
atomic_flag taken;

static void rest(unsigned round) {
    if (round == 0) {
        atomic_signal_fence(memory_order_seq_cst);
        return;
    }
    struct timespec pause;
    memset(&pause, 0, sizeof pause);
    pause.tv_nsec = 1000;
    nanosleep(&pause, 0);
}

static void *add(void *p) {
    for (unsigned round = 0; atomic_flag_test_and_set_explicit(&taken, memory_order_acquire); round++)
        rest(round);
    count++;
    atomic_flag_clear_explicit(&taken, RELEASE);
    return p;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    return 0;
}
