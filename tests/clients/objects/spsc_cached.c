#include "ring.h"

static struct ring ring;

WEAKSPOT_OP(producer)
bool push(int value) { return ring_push(&ring, value); }

WEAKSPOT_OP(consumer)
bool pop(int *value) { return ring_pop(&ring, value); }
