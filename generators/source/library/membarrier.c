// membarrier(2): registering has no effect that is seen; the barrier itself orders accesses of other
// threads, which fences of a model do not.
#include "weakspot.h"
#include <linux/membarrier.h>

WEAKSPOT_LIBRARY long weakspot_membarrier(long command) {
  switch (command) {
  case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
  case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
  case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE:
    return 0;
  }
  weakspot_unsupported("membarrier orders accesses of other threads, which no model here defines; "
                       "with seq_cst fences on both sides the program can be explored");
}
