#include <weakspot/kernel_tree.h>
#include <linux/rculist.h>

static struct list_head list = LIST_HEAD_INIT(list);
struct item { int value; struct list_head node; } item;

static void *updater(void *unused)
{
    item.value = 1;
    list_add_rcu(&item.node, &list);
    return NULL;
}

static void *reader(void *unused)
{
    struct item *found;
    rcu_read_lock();
    list_for_each_entry_rcu(found, &list, node) BUG_ON(found->value != 1);
    rcu_read_unlock();
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, updater, NULL);
    pthread_create(&two, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
