#include "mutex.h"

static struct mutex own;

void lock(void) { mutex_lock(&own); }

void unlock(void) { mutex_unlock(&own); }
