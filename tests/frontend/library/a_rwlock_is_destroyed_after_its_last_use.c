// Safe
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t l;
static int x;
static void *one(void *p) {
  pthread_rwlock_wrlock(&l);
  x++;
  pthread_rwlock_unlock(&l);
  return 0;
}

static void *other(void *p) {
  pthread_rwlock_wrlock(&l);
  x++;
  pthread_rwlock_unlock(&l);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_rwlock_init(&l, 0);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  pthread_rwlock_destroy(&l);
  assert(x == 2);
  return 0;
}
