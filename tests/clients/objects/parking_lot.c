#include "lot.h"

static struct lot lot = LOT_EMPTY;
static atomic_int own;

void lock(void) { lot_lock(&lot, &own); }

void unlock(void) { lot_unlock(&lot, &own); }
