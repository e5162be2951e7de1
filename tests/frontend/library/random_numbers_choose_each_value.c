// Violated: assertion (assertion failed: reached != (1 | 16 | 64))
// The last remainders too.
#define CHECK assert(reached != (1 | 16 | 64))
#include "random_numbers_choose.c"
