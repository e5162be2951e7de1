// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  int other;
  atomic_int words[2];
} shared;
static int data;

static void *set(void *unused) {
  data = 1;
  atomic_store_explicit(&shared.words[1], 1, memory_order_release);
  syscall(SYS_futex, &shared.words[1], FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
  return unused;
}

int main(void) {
  static char area[32];
  cpu_set_t any;
  CPU_ZERO(&any);
  CPU_SET(0, &any);
  assert(syscall(SYS_rseq, &area[0], sizeof area, 0, 1) == -1 && errno == ENOSYS);
  assert(syscall(SYS_sched_setaffinity, 0, sizeof any, &any) == 0);
  assert(sched_setaffinity(0, sizeof any, &any) == 0 && getpid() == syscall(SYS_getpid));
  pthread_t other;
  pthread_create(&other, 0, set, 0);
  while (!atomic_load_explicit(&shared.words[1], memory_order_acquire))
    syscall(SYS_futex, &shared.words[1], FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
  assert(data == 1);
  pthread_join(other, 0);
}
