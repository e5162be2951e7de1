// Two threads exclude each other.
#include <assert.h>
#include <ck_spinlock.h>
#include <pthread.h>

static ck_spinlock_ticket_t lock;
static int x;

static void *run(void *p) {
  ck_spinlock_ticket_lock(&lock);
  x++;
  ck_spinlock_ticket_unlock(&lock);
  return 0;
}

int main(void) {
  ck_spinlock_ticket_init(&lock);
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  run(0);
  pthread_join(t, 0);
  assert(x == 2);
  return 0;
}
