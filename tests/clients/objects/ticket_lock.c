#include "ticket.h"

static struct ticket own;

void lock(void) { ticket_lock(&own); }

void unlock(void) { ticket_unlock(&own); }
