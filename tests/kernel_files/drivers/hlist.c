#include <weakspot/kernel_tree.h>
#include <linux/rculist.h>
static HLIST_HEAD(list);
struct item { int value; struct hlist_node node; } item = {1};

static void *updater(void *unused)
{
    hlist_add_head_rcu(&item.node, &list);
    hlist_del_rcu(&item.node);
    synchronize_rcu();
    WRITE_ONCE(item.value, 0);
    return NULL;
}

static void reader(void)
{
    struct item *found;
    int value = 1;
    rcu_read_lock();
    hlist_for_each_entry_rcu(found, &list, node) value = READ_ONCE(found->value);
    rcu_read_unlock();
    BUG_ON(value != 1);
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, updater, NULL);
    reader();
    pthread_join(one, NULL);
}
