// What each thread has written before the barrier, both see after it.
#include <assert.h>
#include <ck_barrier.h>
#include <pthread.h>

static ck_barrier_dissemination_t barrier[2];
static ck_barrier_dissemination_flag_t flags[2][2];
static int x[2];

static void *run(void *mine) {
  ck_barrier_dissemination_state_t state;
  ck_barrier_dissemination_subscribe(barrier, &state);
  *(int *)mine = 1;
  ck_barrier_dissemination(barrier, &state);
  assert(x[0] && x[1]);
  return 0;
}

int main(void) {
  assert(ck_barrier_dissemination_size(2) <= 2);
  ck_barrier_dissemination_flag_t *all[] = {flags[0], flags[1]};
  ck_barrier_dissemination_init(barrier, all, 2);
  pthread_t t;
  pthread_create(&t, 0, run, &x[0]);
  run(&x[1]);
  pthread_join(t, 0);
  return 0;
}
