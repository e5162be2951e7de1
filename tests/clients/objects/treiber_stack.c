#include "treiber.h"

static struct treiber_node node[16];
static struct treiber stack;

void push(long value) { treiber_push(&stack, &node[value]); }

long pop(void)
{
    struct treiber_node *top = treiber_pop(&stack);
    return top ? top - node : -1;
}
