// Anonymous private memory of mmap(2), which is zero. There is always enough of it. The page before
// it says how large it is.
#define _GNU_SOURCE
#include "weakspot.h"
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static size_t whole_pages(size_t size) { return (size + PAGE - 1) / PAGE * PAGE; }

WEAKSPOT_LIBRARY void *mmap(void *address, size_t size, int protection, int flags, int file,
                            off_t offset) {
  if (!(flags & MAP_ANONYMOUS) || !(flags & MAP_PRIVATE) || flags & (MAP_FIXED | MAP_GROWSDOWN))
    weakspot_unsupported("of mmap, only anonymous private memory at any address is modelled");
  if (protection != (PROT_READ | PROT_WRITE))
    weakspot_unsupported("of mmap, only memory that can be read and written is modelled");
  size = whole_pages(size);
  char *made = weakspot_allocate(PAGE, PAGE + size, 1);
  *(size_t *)made = size;
  return made + PAGE;
}

WEAKSPOT_LIBRARY int munmap(void *address, size_t size) {
  char *made = (char *)address - PAGE;
  if (*(size_t *)made != whole_pages(size))
    weakspot_unsupported("of munmap, only all memory of one mmap is modelled");
  weakspot_free(made);
  return 0;
}

WEAKSPOT_LIBRARY int mprotect(void *address, size_t size, int protection) {
  if (protection != (PROT_READ | PROT_WRITE))
    weakspot_unsupported("of mprotect, only memory that can be read and written is modelled");
  return 0;
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
  case MADV_DONTFORK:
  case MADV_DOFORK:
  case MADV_DONTDUMP:
  case MADV_DODUMP:
    return 0;
  }
  weakspot_unsupported("this advice of madvise is not modelled");
}
