// Two threads exclude each other.
#include <assert.h>
#include <nsync.h>
#include <pthread.h>

static nsync_mu lock;
static int x;

static void *run(void *p) {
  nsync_mu_lock(&lock);
  x++;
  nsync_mu_unlock(&lock);
  return 0;
}

int main(void) {
  nsync_mu_init(&lock);
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  run(0);
  pthread_join(t, 0);
  assert(x == 2);
  return 0;
}

void nsync_panic_(const char *message) { assert(!message); }
