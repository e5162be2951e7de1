#include <weakspot/kernel_tree.h>
#define wake_up_locked(queue) ((void)0)
#include "../kernel/rcu/sync.c"

static struct rcu_sync sync;
static int data;

static void *reader(void *unused)
{
    rcu_read_lock();
    if (rcu_sync_is_idle(&sync)) // the fast path: no update is under way
        WRITE_ONCE(data, 1), WRITE_ONCE(data, 0);
    rcu_read_unlock();
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, reader, NULL);
    rcu_sync_enter(&sync);
    BUG_ON(READ_ONCE(data));
    pthread_join(one, NULL);
}
