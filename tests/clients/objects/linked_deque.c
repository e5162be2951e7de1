/* The mistake that Lincheck found in java.util.concurrent.ConcurrentLinkedDeque (JDK-8256833): who removes
   the first item finds it by walking from the front, and then takes it out of its node without noticing
   what was added in front meanwhile. With REPAIRED it moves the front, which an addition moves too. Of
   the original's links only those from the front are here. */

#include <stdatomic.h>
#include <stddef.h>

struct node {
    atomic_int item; /* 0 once it is taken */
    struct node *next;
};

static struct node nodes[16];
static atomic_int used;
static struct node *_Atomic front;

void push_front(int value)
{
    struct node *own = &nodes[atomic_fetch_add(&used, 1)];
    atomic_store(&own->item, value);
    own->next = atomic_load(&front);
    while (!atomic_compare_exchange_strong(&front, &own->next, own)) {
    }
}

int pop_front(void)
{
    for (;;) {
        struct node *begin = atomic_load(&front), *node = begin;
        int item = 0;
        while (node && !(item = atomic_load(&node->item)))
            node = node->next;
        if (!node)
            return 0;
#ifdef REPAIRED
        struct node *rest = node->next;
        if (atomic_compare_exchange_strong(&front, &begin, rest))
            return item;
#else
        if (atomic_compare_exchange_strong(&node->item, &item, 0))
            return item;
#endif
    }
}

int peek_last(void)
{
    int last = 0, item;
    for (struct node *node = atomic_load(&front); node; node = node->next)
        if ((item = atomic_load(&node->item)))
            last = item;
    return last;
}
