// Safe
// A lock whose threads sleep now and then, as Boost's do, waits.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int lock;
static int count;
static void pause_in_round(unsigned round) {
  if (round % 32 < 31) return;
  int old;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  struct timespec time = {0, 1000};
  nanosleep(&time, 0);
  pthread_setcancelstate(old, &old);
  pthread_testcancel();
}
static void *work(void *unused) {
  for (unsigned round = 0; atomic_exchange(&lock, 1); round++) pause_in_round(round);
  count++;
  atomic_store(&lock, 0);
  return unused;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  work(0);
  pthread_join(one, 0);
  assert(count == 2);
}
