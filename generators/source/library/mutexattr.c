// Attributes of mutexes. Only the type matters: priorities and sharing between processes change who
// runs next and where the mutex may stand, not what can happen.
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>

// The first word, which pthread_mutex_init reads.
static unsigned *type_of(pthread_mutexattr_t *attributes) { return (unsigned *)attributes; }

WEAKSPOT_LIBRARY int pthread_mutexattr_init(pthread_mutexattr_t *attributes) {
  *type_of(attributes) = PTHREAD_MUTEX_NORMAL;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes) { return 0; }

WEAKSPOT_LIBRARY int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type) {
  if (type < 0 || type > 3) return EINVAL;
  *type_of(attributes) = type;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_mutexattr_setrobust(pthread_mutexattr_t *attributes, int robust) {
  if (robust == PTHREAD_MUTEX_ROBUST)
    weakspot_unsupported("a robust mutex is not supported; a thread that ends while it holds a mutex "
                         "makes those hang that wait for it");
  return 0;
}

WEAKSPOT_LIBRARY int pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int shared) { return 0; }
WEAKSPOT_LIBRARY int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol) { return 0; }
WEAKSPOT_LIBRARY int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attributes, int ceiling) { return 0; }
