#include "deque.h"

static struct deque queue;

void weakspot_setup(void) { deque_init(&queue); }

WEAKSPOT_OP(owner)
void push(int value) { deque_push(&queue, value); }

WEAKSPOT_OP(owner)
int pop(void) { return deque_take(&queue); }

WEAKSPOT_OP()
int steal(void) { return deque_steal(&queue); }
