// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static int x;
static atomic_int a;
static void wait_(atomic_int *at, int value) { syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, 0, 0, 0); }
static void wake(atomic_int *at, int count) { syscall(SYS_futex, at, FUTEX_WAKE, count, 0, 0, 0); }

static void lock(void) { int c = 0; if (atomic_compare_exchange_strong(&a, &c, 1)) return;
  if (c != 2) c = atomic_exchange(&a, 2); while (c) { wait_(&a, 2); c = atomic_exchange(&a, 2); } }
static void unlock(void) { if (atomic_fetch_sub(&a, 1) != 1) { atomic_store(&a, 0); wake(&a, 1); } }
static void *one(void *p) {
  lock();
  x++;
  unlock();
  return 0;
}

static void *other(void *p) {
  lock();
  x++;
  unlock();
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  assert(x == 2);
  return 0;
}
