#include "spsc.h"

static struct spsc ring;

WEAKSPOT_OP(producer)
bool push(int value) { return spsc_push(&ring, value); }

WEAKSPOT_OP(consumer)
bool pop(int *value) { return spsc_pop(&ring, value); }
