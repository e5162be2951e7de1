#include "ttas.h"

static struct ttas own;

bool try_lock(void) { return ttas_try(&own); }

void lock(void) { ttas_lock(&own); }

void unlock(void) { ttas_unlock(&own); }
