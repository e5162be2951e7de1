// Safe
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static void *one(void *p) {
  assert(pthread_equal(pthread_self(), pthread_self()));
  return 0;
}

static void *other(void *p) {
  sched_yield();
  usleep(1);
  struct timespec t = {0, 1};
  nanosleep(&t, 0);
  return 0;
}

int main(void) {
  int policy = -1;
  struct sched_param parameters = {.sched_priority = 5};
  assert(!pthread_getschedparam(pthread_self(), &policy, &parameters));
  assert(policy == SCHED_OTHER && !parameters.sched_priority);
  pthread_t thread_1, thread_2;
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  return 0;
}
