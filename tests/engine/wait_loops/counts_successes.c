// A thread takes what another one puts, and ends after a number of successes: how often it fails is
// decided by what it reads.
// rc20: Safe
// imm: Safe
// -DCOUNTS_FAILURES rc20,imm: Unknown: more than 4 times
// -DWITHIN rc20,imm: Safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int put;

static void *puts_two(void *unused) {
  for (int k = 0; k < 2; k++) atomic_fetch_add(&put, 1);
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, puts_two, 0);
  int taken = 0, failures = 0;
  while (taken < 2) {
    if (atomic_load(&put) > taken) taken++;
#if defined COUNTS_FAILURES || defined WITHIN
    else failures++;
#endif
#ifdef WITHIN
    if (failures == 3) break;
#endif
  }
  assert(taken <= 2 && failures >= 0);
  pthread_join(other, 0);
}
