// Safe
#include <assert.h>
#include <threads.h>

static int x;
static tss_t key;

static void drop(void *p) { ++*(int *)p; }

static int run(void *p) {
  tss_set(key, &x);
  assert(tss_get(key) == &x);
  thrd_exit(3);
}

int main(void) {
  thrd_t thread;
  int result;
  tss_create(&key, drop);
  thrd_create(&thread, run, 0);
  thrd_join(thread, &result);
  assert(result == 3 && x == 1 && !tss_get(key));
  return 0;
}
