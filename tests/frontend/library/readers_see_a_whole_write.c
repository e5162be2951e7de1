// Safe
#include <assert.h>
#include <pthread.h>

static int x, y;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static void *one(void *p) {
  pthread_rwlock_wrlock(&l);
  x = y = 1;
  pthread_rwlock_unlock(&l);
  return 0;
}

static void *other(void *p) {
  pthread_rwlock_rdlock(&l);
  assert(x == y);
  pthread_rwlock_unlock(&l);
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
