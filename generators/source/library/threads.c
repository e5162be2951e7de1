// Small functions about threads.
#include "weakspot.h"
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

WEAKSPOT_LIBRARY long weakspot_gettid(void) { return (long)pthread_self(); }
WEAKSPOT_LIBRARY long weakspot_getpid(void) { return 1; }
WEAKSPOT_LIBRARY int getpid(void) { return 1; }
WEAKSPOT_LIBRARY int gettid(void) { return (int)(long)pthread_self(); }
WEAKSPOT_LIBRARY long weakspot_yield(void) { return 0; }

enum { NAMES_MAPPING = 0x53564d41 }; // PR_SET_VMA, which musl's header lacks

WEAKSPOT_LIBRARY int prctl(int option, ...) {
  if (option != PR_SET_NAME && option != NAMES_MAPPING)
    weakspot_unsupported("of prctl, only names of threads and mappings are modelled");
  return 0;
}

// How a thread is scheduled is ignored where it is set.
WEAKSPOT_LIBRARY int pthread_getschedparam(pthread_t thread, int *policy,
                                           struct sched_param *parameters) {
  *policy = SCHED_OTHER;
  *parameters = (struct sched_param){0};
  return 0;
}

// Waiting for some time: without descriptors, poll does nothing else.
WEAKSPOT_LIBRARY int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
  if (count > 0)
    weakspot_unsupported("poll of file descriptors is not modelled");
  return 0;
}

// No thread is cancelled, so it does not matter when one may be. The state before is not stored: a
// loop that pauses in this way would change memory in each round.
WEAKSPOT_LIBRARY int pthread_setcancelstate(int state, int *old) {
  if (old) *old = PTHREAD_CANCEL_ENABLE;
  return 0;
}

WEAKSPOT_LIBRARY int pthread_setcanceltype(int type, int *old) {
  if (old) *old = PTHREAD_CANCEL_DEFERRED;
  return 0;
}

WEAKSPOT_LIBRARY void pthread_testcancel(void) {}
