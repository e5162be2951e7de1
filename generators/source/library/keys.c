// Thread-specific data: a variable of each thread per key, and destructors that run when it ends.
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#define KEYS 32
#define ROUNDS 4 // PTHREAD_DESTRUCTOR_ITERATIONS

static unsigned created;
static void (*destructors[KEYS])(void *);
static _Thread_local void *values[KEYS];
static _Thread_local unsigned used;

WEAKSPOT_LIBRARY int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  unsigned mine = __atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
  if (mine >= KEYS)
    return EAGAIN;
  destructors[mine] = destructor;
  *key = mine;
  return 0;
}

// Destructors no longer run; the key is not used again.
WEAKSPOT_LIBRARY int pthread_key_delete(pthread_key_t key) {
  destructors[key] = 0;
  return 0;
}

WEAKSPOT_LIBRARY void *pthread_getspecific(pthread_key_t key) { return values[key]; }

WEAKSPOT_LIBRARY int pthread_setspecific(pthread_key_t key, const void *value) {
  values[key] = (void *)value;
  if (used <= key)
    used = key + 1;
  return 0;
}

// C11's
WEAKSPOT_LIBRARY int tss_create(tss_t *key, tss_dtor_t destructor) {
  pthread_key_t mine;
  if (pthread_key_create(&mine, destructor))
    return thrd_error;
  *key = mine;
  return thrd_success;
}
WEAKSPOT_LIBRARY void tss_delete(tss_t key) { pthread_key_delete(key); }
WEAKSPOT_LIBRARY void *tss_get(tss_t key) { return pthread_getspecific(key); }
WEAKSPOT_LIBRARY int tss_set(tss_t key, void *value) {
  pthread_setspecific(key, value);
  return thrd_success;
}

WEAKSPOT_THREAD_EXIT(2_keys) {
  for (int round = 0, left = 1; left && round < ROUNDS; round++) {
    left = 0;
    for (unsigned key = 0; key < used; key++) {
      void *value = values[key];
      if (value && destructors[key]) {
        values[key] = 0;
        destructors[key](value);
        left = 1;
      }
    }
  }
}
