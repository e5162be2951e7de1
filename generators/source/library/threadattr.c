// Attributes of threads. Only whether a thread is detached matters: stacks, priorities and processors
// change who runs next, not what can happen.
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>

// The first word, which pthread_create reads.
static int *state_of(const pthread_attr_t *attributes) { return (int *)attributes; }

WEAKSPOT_LIBRARY int pthread_attr_init(pthread_attr_t *attributes) {
  *state_of(attributes) = PTHREAD_CREATE_JOINABLE;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_attr_destroy(pthread_attr_t *attributes) { return 0; }

WEAKSPOT_LIBRARY int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state) {
  if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED) return EINVAL;
  *state_of(attributes) = state;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state) {
  *state = *state_of(attributes);
  return 0;
}
