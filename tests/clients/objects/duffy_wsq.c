#include "wsq.h"

static struct wsq queue = WSQ_INIT;

WEAKSPOT_OP(owner)
bool push(int value) { return wsq_push(&queue, value); }

WEAKSPOT_OP(owner)
bool pop(int *value) { return wsq_pop(&queue, value); }

WEAKSPOT_OP()
bool steal(int *value) { return wsq_try_steal(&queue, value); }
