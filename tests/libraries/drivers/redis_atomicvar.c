// What a thread of the background has written before it sets a flag with synchronisation is visible
// after the flag is got; counters are exact.
#include <assert.h>
#include <atomicvar.h>
#include <pthread.h>

static redisAtomic int ready;
static redisAtomic long long total;
static int data;

static void *background(void *unused) {
  data = 1;
  atomicIncr(total, 2);
  atomicSetWithSync(ready, 1);
  return unused;
}

int main(void) {
  pthread_t thread;
  int is_ready;
  long long sum;
  pthread_create(&thread, 0, background, 0);
  atomicDecr(total, 1);
  atomicGetWithSync(ready, is_ready);
  if (is_ready) assert(data == 1);
  pthread_join(thread, 0);
  atomicGet(total, sum);
  assert(sum == 1);
}
