// Anonymous private memory of mmap(2), which is zero. There is always enough of it.
#define _GNU_SOURCE
#include "weakspot.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

WEAKSPOT_LIBRARY void *mmap(void *address, size_t size, int protection, int flags, int file,
                            off_t offset) {
  if (!(flags & MAP_ANONYMOUS) || !(flags & MAP_PRIVATE) || flags & (MAP_FIXED | MAP_GROWSDOWN))
    weakspot_unsupported("of mmap, only anonymous private memory at any address is modelled");
  if (protection != (PROT_READ | PROT_WRITE))
    weakspot_unsupported("of mmap, only memory that can be read and written is modelled");
  size = (size + PAGE - 1) / PAGE * PAGE;
  void *made = aligned_alloc(PAGE, size);
  return memset(made, 0, size);
}

WEAKSPOT_LIBRARY int madvise(void *address, size_t size, int advice) {
  switch (advice) {
  case MADV_DONTNEED:
    memset(address, 0, size);
  case MADV_NORMAL:
  case MADV_RANDOM:
  case MADV_SEQUENTIAL:
  case MADV_WILLNEED:
  case MADV_HUGEPAGE:
  case MADV_NOHUGEPAGE:
    return 0;
  }
  weakspot_unsupported("this advice of madvise is not modelled");
}
