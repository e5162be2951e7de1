#include "twa.h"

static struct twa own;

void lock(void) { twa_lock(&own); }

void unlock(void) { twa_unlock(&own); }
