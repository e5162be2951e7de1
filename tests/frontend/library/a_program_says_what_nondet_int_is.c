// Safe
#include <assert.h>
#include <pthread.h>

static int x;
unsigned weakspot_choose(unsigned); int __VERIFIER_nondet_int(void) { return weakspot_choose(4); }
static void *one(void *p) {
  x = __VERIFIER_nondet_int();
  assert(x < 4);
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
