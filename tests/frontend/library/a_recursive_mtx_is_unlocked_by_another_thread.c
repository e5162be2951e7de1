// Violated: lock (unlock of a mutex that the thread does not hold)
#include <threads.h>

static mtx_t mutex;

static int run(void *unused) {
  (void)unused;
  return mtx_unlock(&mutex);
}

int main(void) {
  thrd_t thread;
  mtx_init(&mutex, mtx_plain | mtx_recursive);
  mtx_lock(&mutex);
  thrd_create(&thread, run, 0);
  thrd_join(thread, 0);
}
