// Violated: lock (destruction of a reader-writer lock that is locked)
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t l;
static int x;
static void *one(void *p) {
  pthread_rwlock_rdlock(&l);
  pthread_rwlock_destroy(&l);
  return 0;
}

static void *other(void *p) {
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_rwlock_init(&l, 0);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  return 0;
}
