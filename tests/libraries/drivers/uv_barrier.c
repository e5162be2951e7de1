// What each thread has written before the barrier, both see after it.
#include <assert.h>
#include <uv.h>

static uv_barrier_t barrier;
static int x[2];

static void run(void *mine) {
  *(int *)mine = 1;
  uv_barrier_wait(&barrier);
  assert(x[0] && x[1]);
}

int main(void) {
  uv_thread_t t;
  assert(uv_barrier_init(&barrier, 2) == 0);
  assert(uv_thread_create(&t, run, &x[0]) == 0);
  run(&x[1]);
  uv_thread_join(&t);
  return 0;
}
