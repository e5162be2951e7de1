#include "mcs.h"

static struct mcs own;
static _Thread_local struct mcs_node node;

void lock(void) { mcs_lock(&own, &node); }

void unlock(void) { mcs_unlock(&own, &node); }
