// A reader never sees half of what a writer writes.
#include <assert.h>
#include <plock.h>
#include <pthread.h>

static unsigned long lock;
static int x, y;

static void *writer(void *p) {
  pl_take_w(&lock);
  x++;
  y++;
  pl_drop_w(&lock);
  return p;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  pl_take_r(&lock);
  assert(x == y);
  pl_drop_r(&lock);
  pthread_join(t, 0);
  return 0;
}
