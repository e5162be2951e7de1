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
static void wait_(atomic_int *at, int value) { syscall(SYS_futex, at, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, value, 0, 0, FUTEX_BITSET_MATCH_ANY); }
static void wake(atomic_int *at, int count) { syscall(SYS_futex, at, FUTEX_WAKE_BITSET, count, 0, 0, FUTEX_BITSET_MATCH_ANY); }
static void *one(void *p) {
  while (!atomic_load_explicit(&a, memory_order_acquire)) wait_(&a, 0);
  assert(x == 1);
  return 0;
}

static void *other(void *p) {
  x = 1;
  atomic_store_explicit(&a, 1, memory_order_release);
  wake(&a, 1);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  return 0;
}
