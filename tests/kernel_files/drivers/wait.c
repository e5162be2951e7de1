#include <weakspot/kernel_tree.h>
#include <linux/list.h>
struct wait_queue_head { struct list_head head; };
#include "linux/wait.h"

static struct wait_queue_head queue = {LIST_HEAD_INIT(queue.head)};
static struct list_head entry;
static int ready, woken;

static void *waiter(void *unused)
{
    list_add(&entry, &queue.head);
    smp_mb(); // that of set_current_state()
    if (!READ_ONCE(ready))
        smp_cond_load_relaxed(&woken, VAL);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, waiter, NULL);
    WRITE_ONCE(ready, 1);
    if (wq_has_sleeper(&queue))
        WRITE_ONCE(woken, 1);
    pthread_join(one, NULL);
}
