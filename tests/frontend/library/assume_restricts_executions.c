// Safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a;
void __VERIFIER_assume(int);
static void *one(void *p) {
  a = 1;
  return 0;
}

static void *other(void *p) {
  int r = a;
  __VERIFIER_assume(r == 1);
  assert(r == 1);
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
