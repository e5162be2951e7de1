#include "mpmc.h"

static struct mpmc queue;

void weakspot_setup(void) { mpmc_init(&queue); }

bool push(int value) { return mpmc_push(&queue, value); }

bool pop(int *value) { return mpmc_pop(&queue, value); }
