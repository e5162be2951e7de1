#include <weakspot/kernel_tree.h>
#include "../lib/lockref.c"

static struct lockref reference = {.count = 1};
static int freed;

static void *getter(void *unused)
{
    if (lockref_get_not_dead(&reference)) BUG_ON(READ_ONCE(freed));
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, getter, NULL);
    if (!lockref_put_or_lock(&reference)) {
        lockref_mark_dead(&reference);
        spin_unlock(&reference.lock);
        freed = 1;
    }
    pthread_join(one, NULL);
}
