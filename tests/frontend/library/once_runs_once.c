// Safe
#include <assert.h>
#include <pthread.h>

static int x;
static pthread_once_t o = PTHREAD_ONCE_INIT; static void set(void) { x++; }
static void *one(void *p) {
  pthread_once(&o, set);
  assert(x == 1);
  return 0;
}

static void *other(void *p) {
  pthread_once(&o, set);
  assert(x == 1);
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
