// The function runs once, before either call returns.
#include <assert.h>
#include <nsync.h>
#include <pthread.h>

static nsync_once once = NSYNC_ONCE_INIT;
static int x;

static void initialise(void) { x++; }

static void *run(void *p) {
  nsync_run_once_spin(&once, initialise);
  assert(x == 1);
  return p;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  run(0);
  pthread_join(t, 0);
  return 0;
}

void nsync_panic_(const char *message) { assert(!message); }
