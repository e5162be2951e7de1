#include "rw.h"

static struct rw own;

void lock(void) { rw_write_lock(&own); }

void unlock(void) { rw_write_unlock(&own); }

void lock_shared(void) { rw_read_lock(&own); }

void unlock_shared(void) { rw_read_unlock(&own); }
