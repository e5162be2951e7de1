// A reader with a slot of its own sees both variables of a writer, or neither.
#include <assert.h>
#include <ck_bytelock.h>
#include <pthread.h>

static ck_bytelock_t lock = CK_BYTELOCK_INITIALIZER;
static int x, y;

static void *writer(void *p) {
  ck_bytelock_write_lock(&lock, 1);
  x = 1;
  y = 1;
  ck_bytelock_write_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  ck_bytelock_read_lock(&lock, 2);
  assert(x == y);
  ck_bytelock_read_unlock(&lock, 2);
  pthread_join(t, 0);
  return 0;
}
