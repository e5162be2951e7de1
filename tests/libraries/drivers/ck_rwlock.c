// A reader sees both variables of a writer, or neither.
#include <assert.h>
#include <ck_rwlock.h>
#include <pthread.h>

static ck_rwlock_t lock = CK_RWLOCK_INITIALIZER;
static int x, y;

static void *writer(void *p) {
  ck_rwlock_write_lock(&lock);
  x = 1;
  y = 1;
  ck_rwlock_write_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  ck_rwlock_read_lock(&lock);
  assert(x == y);
  ck_rwlock_read_unlock(&lock);
  pthread_join(t, 0);
  return 0;
}
