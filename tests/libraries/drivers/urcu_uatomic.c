// A lock of uatomic operations.
#include <assert.h>
#include <pthread.h>
#include <urcu/uatomic.h>
#include <urcu/arch.h>

static int lock, x;

static void *run(void *p) {
  while (uatomic_cmpxchg(&lock, 0, 1) != 0)
    caa_cpu_relax();
  x++;
  cmm_smp_mb();
  uatomic_set(&lock, 0);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  run(0);
  pthread_join(t, 0);
  assert(x == 2);
  return 0;
}
