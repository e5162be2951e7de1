#include "semaphore.h"

static struct semaphore own = {1};

void lock(void) { semaphore_wait(&own); }

void unlock(void) { semaphore_post(&own); }
