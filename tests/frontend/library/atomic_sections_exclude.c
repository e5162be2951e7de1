// Safe
#include <assert.h>
#include <pthread.h>

static int x;
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __VERIFIER_atomic_add(void) { x++; }
static void *one(void *p) {
  __VERIFIER_atomic_begin();
  x++;
  __VERIFIER_atomic_end();
  return 0;
}

static void *other(void *p) {
  __VERIFIER_atomic_add();
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  assert(x == 2);
  return 0;
}
