// membarrier(2): a heavy fence, where the process has registered for it. Threads of other processes
// run no code of the program.
#include "weakspot.h"
#include <errno.h>
#include <linux/membarrier.h>

#define SUPPORTED                                                                                  \
  (MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |                                       \
   MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED |                   \
   MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |        \
   MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)

static int registered;

static long failed(int error) {
  errno = error;
  return -1;
}

static int is_registered(int command) {
  return __atomic_load_n(&registered, __ATOMIC_RELAXED) & command;
}

WEAKSPOT_LIBRARY long weakspot_membarrier(long command, long flags) {
  if (flags)
    return failed(EINVAL);
  switch (command) {
  case MEMBARRIER_CMD_QUERY:
    return SUPPORTED;
  case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
  case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
  case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE:
    __atomic_fetch_or(&registered, (int)command, __ATOMIC_RELAXED);
    return 0;
  case MEMBARRIER_CMD_GLOBAL:
    break;
  case MEMBARRIER_CMD_GLOBAL_EXPEDITED:
    // it reaches only processes that have registered, and does not fail
    if (!is_registered(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED))
      return 0;
    break;
  case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
    if (!is_registered(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
      return failed(EPERM);
    break;
  case MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE:
    if (!is_registered(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE))
      return failed(EPERM);
    break;
  default:
    weakspot_unsupported("this command of membarrier is not modelled");
  }
  weakspot_heavy_fence();
  return 0;
}

// the C library's
WEAKSPOT_LIBRARY int membarrier(int command, int flags) {
  return (int)weakspot_membarrier(command, flags);
}
