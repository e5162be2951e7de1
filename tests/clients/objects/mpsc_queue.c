#include <stdbool.h>

#include "mpsc.h"

static struct mpsc_node dummy, node[16];
static struct mpsc queue = {&dummy, &dummy};

WEAKSPOT_OP()
void push(int value) { mpsc_push(&queue, &node[value], value); }

WEAKSPOT_OP(consumer)
bool pop(int *value) { return mpsc_pop(&queue, value); }
