#include "ptlq.h"

static struct ptlq2 queue = PTLQ_INIT;

void put(int value) { ptlq2_put(&queue, value); }

int take(void) { return ptlq2_take(&queue); }
