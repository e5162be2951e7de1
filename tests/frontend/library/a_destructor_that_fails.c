// Violated: assertion
#include <assert.h>
#include <pthread.h>

static int x;
static pthread_key_t k; static void drop(void *p) { assert(!p); }
static void *one(void *p) {
  pthread_setspecific(k, &x);
  return 0;
}

static void *other(void *p) {
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_key_create(&k, drop);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  return 0;
}
