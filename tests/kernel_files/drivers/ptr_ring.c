#include <weakspot/kernel_tree.h>
#include <linux/ptr_ring.h>

static void *queue[2];
static struct ptr_ring ring = {.size = 2, .batch = 2, .queue = queue};
static int item;

static void *producer(void *unused)
{
    item = 1;
    ptr_ring_produce(&ring, &item);
    return NULL;
}

static void *consumer(void *unused)
{
    int *found = ptr_ring_consume(&ring);
    if (found) BUG_ON(*found != 1);
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, producer, NULL);
    pthread_create(&two, NULL, consumer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
