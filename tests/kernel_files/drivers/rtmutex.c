#include <weakspot/kernel_tree.h>
struct rt_mutex_base { raw_spinlock_t wait_lock; struct task_struct { int unused; } *owner; };
#define RT_MUTEX_HAS_WAITERS 1UL
#define rt_mutex_has_waiters(lock) 0
#include "../kernel/locking/rtmutex_common.h"
#include "../kernel/locking/rtmutex.c"

static struct task_struct tasks[2];
static struct rt_mutex_base lock = {.owner = &tasks[0]};
static int data;

static void *owner(void *unused)
{
    data = 1;
    rt_mutex_cmpxchg_release(&lock, &tasks[0], NULL);
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, owner, NULL);
    raw_spin_lock(&lock.wait_lock);
    mark_rt_mutex_waiters(&lock);
    if (!rt_mutex_owner(&lock)) {
        rt_mutex_set_owner(&lock, &tasks[1]);
        BUG_ON(data != 1);
    }
    raw_spin_unlock(&lock.wait_lock);
    pthread_join(one, NULL);
}
