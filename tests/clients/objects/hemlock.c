#include "hemlock.h"

static struct hemlock own;
static _Thread_local struct hemlock_thread thread;

void lock(void) { hemlock_lock(&own, &thread); }

void unlock(void) { hemlock_unlock(&own, &thread); }
