// Safe under tso, rc11
#include <assert.h>
#include <emmintrin.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r0, r1;

static void *one(void *p) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  _mm_mfence();
  r0 = atomic_load_explicit(&y, memory_order_relaxed);
  return 0;
}

static void *other(void *p) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  _mm_mfence();
  r1 = atomic_load_explicit(&x, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(r0 || r1);
  return 0;
}
