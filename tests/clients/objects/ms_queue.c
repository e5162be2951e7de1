#include "ms.h"

static struct ms_node dummy, node[16];
static struct ms queue = {&dummy, &dummy};

void push(int value) { ms_push(&queue, &node[value], value); }

bool pop(int *value) { return ms_pop(&queue, value); }
