// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if !defined _ISOC11_SOURCE || !defined _DEFAULT_SOURCE || _POSIX_C_SOURCE < 200809L || _XOPEN_SOURCE < 700
static void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
#endif

__BEGIN_DECLS
static int weighted(struct drand48_data *state);
__END_DECLS

static int weighted(struct drand48_data *state) {
  double value;
  return drand48_r(state, &value) + (value > 0.5);
}

int main(int count, char **arguments) {
  unsigned processor = 9, node = 9;
  assert(getcpu(&processor, &node) == 0 && processor < 2 && node == 0);
  assert(sysconf(_SC_LEVEL1_DCACHE_LINESIZE) == 64);
  struct drand48_data state;
  off64_t at = 0;
  if (processor > 1) return weighted(&state) + fseeko64(stdin, at, SEEK_SET); // not defined, not reached
}
