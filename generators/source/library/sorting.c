// Sorting arrays, by insertion, so that what compares equal keeps its order, and searching sorted ones.
#include "weakspot.h"
#include <stdlib.h>
#include <string.h>

WEAKSPOT_LIBRARY void qsort(void *array, size_t count, size_t size,
                            int (*compare)(const void *, const void *)) {
  char *first = array, moved[size];
  for (size_t next = 1; next < count; next++) {
    size_t place = next;
    while (place > 0 && compare(first + (place - 1) * size, first + next * size) > 0)
      place--;
    if (place == next)
      continue;
    memcpy(moved, first + next * size, size);
    memmove(first + (place + 1) * size, first + place * size, (next - place) * size);
    memcpy(first + place * size, moved, size);
  }
}

WEAKSPOT_LIBRARY void *bsearch(const void *key, const void *array, size_t count, size_t size,
                               int (*compare)(const void *, const void *)) {
  const char *first = array;
  while (count > 0) {
    const char *middle = first + count / 2 * size;
    int order = compare(key, middle);
    if (order == 0)
      return (void *)middle;
    if (order > 0) {
      first = middle + size;
      count--;
    }
    count /= 2;
  }
  return 0;
}
