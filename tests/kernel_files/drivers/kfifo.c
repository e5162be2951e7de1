#include <weakspot/kernel_tree.h>
#include <linux/kfifo.h>

static DEFINE_KFIFO(fifo, int, 2);

static void *producer(void *unused)
{
    kfifo_put(&fifo, 1);
    return NULL;
}

int main(void)
{
    pthread_t one;
    int value;
    pthread_create(&one, NULL, producer, NULL);
    if (kfifo_get(&fifo, &value)) BUG_ON(value != 1);
    pthread_join(one, NULL);
}
