// A reader waits for two things that a third thread announces. The two increments precede its call of
// get because of two rounds of its loops that fail: each reads what another thread has released. Some
// increment is lost, which only shows if both precede the call.
#include <pthread.h>
#include <stdatomic.h>

long weakspot_parameter(unsigned);
void weakspot_called(unsigned);
void weakspot_returned(unsigned, const char *, long, ...);

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static long specified;
static atomic_long count;
static atomic_int news[2];

static void increment(unsigned call) {
  if (weakspot_parameter(0)) {
    pthread_mutex_lock(&one_at_a_time);
    specified++;
    weakspot_returned(call, "increment()", 0);
    pthread_mutex_unlock(&one_at_a_time);
    return;
  }
  weakspot_called(call);
#ifdef ATOMIC
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
#else
  long old = atomic_load_explicit(&count, memory_order_relaxed);
  atomic_store_explicit(&count, old + 1, memory_order_relaxed);
#endif
  weakspot_returned(call, "increment()", 0);
}

static void *first(void *unused) {
  increment(0);
  atomic_store_explicit(&news[0], 1, memory_order_release);
  return unused;
}

static void *second(void *unused) {
  increment(1);
  atomic_store_explicit(&news[1], 1, memory_order_release);
  return unused;
}

static void *third(void *unused) {
  for (int i = 0; i < 2; i++) {
    while (atomic_load_explicit(&news[i], memory_order_relaxed) != 1) {
    }
    atomic_store_explicit(&news[i], 2, memory_order_relaxed);
  }
  return unused;
}

static void *reader(void *unused) {
  long seen;
  if (weakspot_parameter(0)) {
    pthread_mutex_lock(&one_at_a_time);
    seen = specified;
    weakspot_returned(2, "get() =", seen);
    pthread_mutex_unlock(&one_at_a_time);
    return unused;
  }
  for (int i = 0; i < 2; i++)
    while (atomic_load_explicit(&news[i], memory_order_acquire) != 2) {
    }
  weakspot_called(2);
  seen = atomic_load_explicit(&count, memory_order_relaxed);
  weakspot_returned(2, "get() =", seen);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_create(&threads[2], 0, third, 0);
  pthread_create(&threads[3], 0, reader, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return 0;
}
