// Violated: hang
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int a;
static void wait_(atomic_int *at, int value) { syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, 0, 0, 0); }
static void wake(atomic_int *at, int count) { syscall(SYS_futex, at, FUTEX_WAKE, count, 0, 0, 0); }
static void *one(void *p) {
  while (!a) wait_(&a, 0);
  return 0;
}

static void *other(void *p) {
  a = 1;
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
