#include <weakspot/kernel_tree.h>
enum { WORK_STRUCT_PENDING_BIT, WORK_STRUCT_PENDING = 1, WORK_OFFQ_POOL_SHIFT = 5 };
struct work_struct { atomic_long_t data; };
#define work_data_bits(work) ((unsigned long *)&(work)->data)
#define work_pending(work) 1 // a WARN_ON() alone reads it
#define work_static(work) 0
#include "../kernel/workqueue.c"

// main executes what is queued already
static struct work_struct work = {ATOMIC_LONG_INIT(WORK_STRUCT_PENDING)};
static int event, owner;

static void *queues(void *unused)
{
    WRITE_ONCE(event, 1);
    if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&work))) return NULL;
    WRITE_ONCE(owner, 2);
    return (void *)1;
}
int main(void)
{
    void *queued;
    pthread_t one;
    pthread_create(&one, NULL, queues, NULL);
    WRITE_ONCE(owner, 1);
    set_work_pool_and_clear_pending(&work, 0, 0);
    int seen = READ_ONCE(event);
    pthread_join(one, &queued);
    BUG_ON(queued ? owner != 2 : !seen);
}
