#include <weakspot/kernel_tree.h>
#include "../kernel/locking/osq_lock.c"

static struct optimistic_spin_queue lock = OSQ_LOCK_UNLOCKED;
static int inside;

static void *spinner(void *cpu)
{
    weakspot_cpu = (long)cpu;
    if (osq_lock(&lock)) {
        BUG_ON(xchg_relaxed(&inside, 1));
        WRITE_ONCE(inside, 0);
        osq_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, spinner, (void *)1);
    spinner((void *)0);
    pthread_join(one, NULL);
}
