// A lock of acquire and release operations.
#include <assert.h>
#include <atomic_ops.h>
#include <pthread.h>

static AO_TS_t lock = AO_TS_INITIALIZER;
static int x;

static void *run(void *p) {
  while (AO_test_and_set_acquire(&lock) == AO_TS_SET) {
  }
  x++;
  AO_CLEAR(&lock);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  run(0);
  pthread_join(t, 0);
  assert(x == 2);
  return 0;
}
