// Random numbers with a state of the program's, by the engine's lrand48, which returns any number below
// 2^31. The state is written at each call, and says nothing of the next number.
#define _GNU_SOURCE
#include "weakspot.h"
#include <stdlib.h>

WEAKSPOT_LIBRARY int rand_r(unsigned *seed) {
  *seed = (unsigned)lrand48();
  return (int)lrand48();
}

WEAKSPOT_LIBRARY int srand48_r(long seed, struct drand48_data *state) {
  state->init = 1;
  return 0;
}

WEAKSPOT_LIBRARY int lrand48_r(struct drand48_data *state, long *number) {
  state->init++;
  *number = lrand48();
  return 0;
}

WEAKSPOT_LIBRARY int srandom_r(unsigned seed, struct random_data *state) {
  state->rand_type = 1;
  return 0;
}

WEAKSPOT_LIBRARY int initstate_r(unsigned seed, char *bytes, size_t size, struct random_data *state) {
  return srandom_r(seed, state);
}

WEAKSPOT_LIBRARY int random_r(struct random_data *state, int *number) {
  state->rand_type++;
  *number = (int)lrand48();
  return 0;
}
