#include <weakspot/kernel_tree.h>
#include "../kernel/locking/osq_lock.c"

static struct optimistic_spin_queue lock = OSQ_LOCK_UNLOCKED;
static int inside = 1;

static void *spinner(void *unused)
{
    if (osq_lock(&lock)) {
        BUG_ON(xchg_relaxed(&inside, 1));
        osq_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t one;
    osq_lock(&lock);
    pthread_create(&one, NULL, spinner, NULL);
    WRITE_ONCE(inside, 0);
    osq_unlock(&lock);
    pthread_join(one, NULL);
}
