// Safe
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int flag;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

static void *setter(void *p) {
  atomic_store(&flag, 1);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, setter, 0);
  long end = now() + 1;
  while (!atomic_load(&flag) && now() < end)
    sched_yield();
  pthread_join(thread, 0);
  assert(atomic_load(&flag));
  return 0;
}
