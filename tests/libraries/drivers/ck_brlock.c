// A reader sees both variables of a writer, or neither.
#include <assert.h>
#include <ck_brlock.h>
#include <pthread.h>

static ck_brlock_t lock = CK_BRLOCK_INITIALIZER;
static ck_brlock_reader_t reader;
static int x, y;

static void *writer(void *p) {
  ck_brlock_write_lock(&lock);
  x = 1;
  y = 1;
  ck_brlock_write_unlock(&lock);
  return 0;
}

int main(void) {
  ck_brlock_read_register(&lock, &reader);
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  ck_brlock_read_lock(&lock, &reader);
  assert(x == y);
  ck_brlock_read_unlock(&reader);
  pthread_join(t, 0);
  return 0;
}
