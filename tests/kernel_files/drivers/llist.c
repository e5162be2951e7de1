#include <weakspot/kernel_tree.h>
#include <linux/llist.h>
#include "../lib/llist.c"

static LLIST_HEAD(list);
struct item { int value; struct llist_node node; } items[2];

static void *producer(void *item)
{
    ((struct item *)item)->value = 1;
    llist_add(&((struct item *)item)->node, &list);
    return NULL;
}

static void *consumer(void *unused)
{
    struct llist_node *node = llist_del_all(&list);
    if (node) BUG_ON(llist_entry(node, struct item, node)->value != 1);
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, producer, &items[0]);
    pthread_create(&two, NULL, consumer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
