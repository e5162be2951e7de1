// Allocation, by the functions that the engine provides: realloc, aligned_alloc.
#define _GNU_SOURCE
#include "weakspot.h"
#include <errno.h>
#include <stdlib.h>

WEAKSPOT_LIBRARY void *reallocarray(void *old, size_t count, size_t size) {
  if (__builtin_mul_overflow(count, size, &size)) {
    errno = ENOMEM;
    return 0;
  }
  return realloc(old, size);
}

WEAKSPOT_LIBRARY void *valloc(size_t size) { return aligned_alloc(4096, size); }
