#include <weakspot/kernel_tree.h>
#include <linux/llist.h>
#include "../lib/llist.c"

static LLIST_HEAD(list);
static struct item { int value; struct llist_node node; } items[2];

static void *producer(void *item)
{
    ((struct item *)item)->value = 1;
    llist_add(&((struct item *)item)->node, &list);
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    struct item *item, *next;
    pthread_create(&one, NULL, producer, &items[0]);
    pthread_create(&two, NULL, producer, &items[1]);
    llist_for_each_entry_safe(item, next, llist_del_all(&list), node) BUG_ON(item->value != 1);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
