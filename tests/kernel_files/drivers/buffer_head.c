#include <weakspot/kernel_tree.h>
enum { BH_Uptodate };
struct buffer_head { unsigned long b_state; };
#include "linux/buffer_head.h"

static struct buffer_head buffer;
static int data;

static void *reader(void *unused)
{
    data = 1;
    set_buffer_uptodate(&buffer);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, reader, NULL);
    if (buffer_uptodate(&buffer))
        BUG_ON(!data);
    pthread_join(one, NULL);
}
