#include "qspinlock_word.h"

// main has set the pending bit, and takes the lock
static struct qspinlock lock = {.val = ATOMIC_INIT(_Q_PENDING_VAL)};
static int data;

static void *worker(void *unused)
{
    queued_spin_lock(&lock);
    BUG_ON(data != 1);
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, worker, NULL);
    clear_pending_set_locked(&lock);
    data = 1;
    queued_spin_unlock(&lock);
    pthread_join(one, NULL);
}
