// Safe
#include <assert.h>
#include <pthread.h>

static int x;
static pthread_spinlock_t l;
static void *one(void *p) {
  pthread_spin_lock(&l);
  x++;
  pthread_spin_unlock(&l);
  return 0;
}

static void *other(void *p) {
  pthread_spin_lock(&l);
  x++;
  pthread_spin_unlock(&l);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_spin_init(&l, 0);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  assert(x == 2);
  pthread_spin_destroy(&l);
  return 0;
}
