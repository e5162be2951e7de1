// errno: a variable of each thread.
#include "weakspot.h"

static _Thread_local int number;

WEAKSPOT_LIBRARY int *__errno_location(void) { return &number; }
