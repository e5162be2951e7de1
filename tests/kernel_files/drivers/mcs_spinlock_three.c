#include <weakspot/kernel_tree.h>
#include "../kernel/locking/mcs_spinlock.h"

static struct mcs_spinlock *lock;
static struct mcs_spinlock nodes[3];
static int count;

static void *worker(void *node)
{
    mcs_spin_lock(&lock, node);
    count++;
    mcs_spin_unlock(&lock, node);
    return NULL;
}
int main(void)
{
    pthread_t one, two, three;
    pthread_create(&one, NULL, worker, &nodes[0]);
    pthread_create(&two, NULL, worker, &nodes[1]);
    pthread_create(&three, NULL, worker, &nodes[2]);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_join(three, NULL);
    BUG_ON(count != 3);
}
