// A reader never sees half of what a writer writes.
#include <assert.h>
#include <uv.h>

static uv_rwlock_t lock;
static int x, y;

static void run(void *p) {
  uv_rwlock_wrlock(&lock);
  x++;
  y++;
  uv_rwlock_wrunlock(&lock);
}

int main(void) {
  uv_thread_t t;
  assert(uv_rwlock_init(&lock) == 0);
  assert(uv_thread_create(&t, run, 0) == 0);
  uv_rwlock_rdlock(&lock);
  assert(x == y);
  uv_rwlock_rdunlock(&lock);
  uv_thread_join(&t);
  return 0;
}
