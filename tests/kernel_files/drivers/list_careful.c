#include <weakspot/kernel_tree.h>
#include <linux/list.h>

static struct list_head queue, entry = {&queue, &queue}, queue = {&entry, &entry};
static int woken;

static void *waker(void *unused)
{
    woken = 1;
    list_del_init_careful(&entry);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, waker, NULL);
    if (list_empty_careful(&entry))
        BUG_ON(!woken);
    pthread_join(one, NULL);
}
