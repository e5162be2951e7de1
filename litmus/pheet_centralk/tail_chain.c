/* One pusher moves the tail over its item, another moves it on. A reader of the second tail relies on
   the first move as well: the release sequence runs through the second thread's read-modify-write. */

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_block block;
static atomic_int tail;
static struct ck_item items[2];

static void *first_pusher(void *unused)
{
    ck_put(&block, 0, &items[0]);
    ck_move_tail(&tail, 0);
    return unused;
}

static void *second_pusher(void *unused)
{
    if (atomic_load_explicit(&tail, memory_order_relaxed) == 1) {
        ck_put(&block, 1, &items[1]);
        ck_move_tail(&tail, 1);
    }
    return unused;
}

static void *reader(void *unused)
{
    int end = ck_tail(&tail);
    for (int i = 0; i < end; i++)
        assert(ck_entry(&block, i) != NULL);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, first_pusher, NULL);
    pthread_create(&b, NULL, second_pusher, NULL);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
