// Small functions about threads.
#include "weakspot.h"
#include <poll.h>
#include <pthread.h>

WEAKSPOT_LIBRARY long weakspot_gettid(void) { return (long)pthread_self(); }
WEAKSPOT_LIBRARY long weakspot_getpid(void) { return 1; }
WEAKSPOT_LIBRARY int getpid(void) { return 1; }
WEAKSPOT_LIBRARY int gettid(void) { return (int)(long)pthread_self(); }
WEAKSPOT_LIBRARY long weakspot_yield(void) { return 0; }

// Waiting for some time: without descriptors, poll does nothing else.
WEAKSPOT_LIBRARY int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
  if (count > 0)
    weakspot_unsupported("poll of file descriptors is not modelled");
  return 0;
}
