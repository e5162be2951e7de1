// What a thread writes before a release store is seen after an acquire load.
#include <assert.h>
#include <atomic_ops.h>
#include <pthread.h>

static volatile AO_t ready;
static int letter;

static void *writer(void *p) {
  letter = 1;
  AO_store_release(&ready, 1);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  if (AO_load_acquire(&ready))
    assert(letter == 1);
  AO_fetch_and_add_full(&ready, 1);
  pthread_join(t, 0);
  return 0;
}
