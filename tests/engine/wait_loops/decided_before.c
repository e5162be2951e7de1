// A loop whose number of rounds was read before it is explored to its end, whatever --loops says; one
// that reads it again, or follows what it reads, is bounded. Plain memory that nobody may write
// meanwhile counts as read before, except where dependencies are tracked, as under imm.
// rc20,sc,imm: Safe
// -DWRONG rc20,imm: assertion
// -DPLAIN rc20: Safe
// -DPLAIN imm: Unknown: a loop iterates more than 4 times
// -DPLAIN_WRONG rc20: assertion
// -DPLAIN_LOCKED rc20,imm: Unknown: a loop iterates more than 4 times
// -DREREAD rc20,imm: Unknown: a loop iterates more than 4 times
// -DFOLLOW rc20,imm: Unknown: a loop iterates more than 4 times
// -DCHOOSE rc20,imm: Unknown: a loop iterates more than 4 times
// -DENDLESS rc20,imm: Unknown: more than 2000000 instructions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 9
#if WRONG || PLAIN_WRONG
#define LAST 0
#else
#define LAST ROUNDS
#endif

unsigned weakspot_choose(unsigned);

static int rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int count, x[ROUNDS + 1];
static atomic_int next[ROUNDS + 1] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8};

static void *publish(void *p) {
  pthread_mutex_lock(&mutex);
  rounds = ROUNDS;
  pthread_mutex_unlock(&mutex);
  atomic_store(&next[ROUNDS], ROUNDS - 1);
  atomic_store(&count, ROUNDS);
  return p;
}

static void *fill(void *p) {
  int n = atomic_load(&count);
#if FOLLOW
  // the first round depends on n alone
  for (int i = n; i != 0; i = atomic_load(&next[i]))
    atomic_store_explicit(&x[1], i, memory_order_relaxed);
#elif ENDLESS
  for (int i = 0; n < ROUNDS + 1; i++)
    atomic_store_explicit(&x[1], i, memory_order_relaxed);
#elif PLAIN || PLAIN_WRONG
  for (int i = 0; n && i < rounds; i++)
    atomic_store_explicit(&x[i], i + 1, memory_order_relaxed);
#elif PLAIN_LOCKED
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < rounds; i++) {
    atomic_store_explicit(&x[i], i + 1, memory_order_relaxed);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
  }
  pthread_mutex_unlock(&mutex);
#else
  for (int i = 0; i < n; i++) {
    atomic_store_explicit(&x[i], i + 1, memory_order_relaxed);
#if REREAD
    n = atomic_load(&count);
#elif CHOOSE
    i -= (int)weakspot_choose(2);
#endif
  }
#endif
  return p;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, publish, 0);
  pthread_create(&b, 0, fill, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x[ROUNDS - 1] == 0 || x[ROUNDS - 1] == LAST);
  return 0;
}
