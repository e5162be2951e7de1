// What each thread has written before the barrier, both see after it; twice.
#include <assert.h>
#include <ck_barrier.h>
#include <pthread.h>

static ck_barrier_centralized_t barrier = CK_BARRIER_CENTRALIZED_INITIALIZER;
static int x[2];

static void *run(void *mine) {
  ck_barrier_centralized_state_t state = CK_BARRIER_CENTRALIZED_STATE_INITIALIZER;
  for (int round = 1; round <= 2; round++) {
    *(int *)mine = round;
    ck_barrier_centralized(&barrier, &state, 2);
    assert(x[0] >= round && x[1] >= round);
    ck_barrier_centralized(&barrier, &state, 2);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, &x[0]);
  run(&x[1]);
  pthread_join(t, 0);
  return 0;
}
