// Violated: assertion
#include <assert.h>
#include <pthread.h>
#include <time.h>

static void *one(void *p) {
  time_t s = time(0);
  assert(time(0) != s);
  return 0;
}

static void *other(void *p) {
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  return 0;
}
