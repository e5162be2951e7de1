// A reader sees both variables of a writer, or neither.
#include <assert.h>
#include <ck_swlock.h>
#include <pthread.h>

static ck_swlock_t lock;

static int x, y;

static void *writer(void *p) {
  ck_swlock_write_lock(&lock);
  x = 1;
  y = 1;
  ck_swlock_write_unlock(&lock);
  return 0;
}

int main(void) {
  ck_swlock_init(&lock);
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  ck_swlock_read_lock(&lock);
  assert(x == y);
  ck_swlock_read_unlock(&lock);
  pthread_join(t, 0);
  return 0;
}
