// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
int main(void) {
  int *array = reallocarray(0, 2, sizeof(int));
  array[1] = 7;
  array = reallocarray(array, 3, sizeof(int));
  assert(array[1] == 7);
  assert(!reallocarray(array, SIZE_MAX, 2) && errno == ENOMEM);
  free(array);
  void *page = valloc(8);
  assert((uintptr_t)page % 4096 == 0);
  free(page);
}
