#include <weakspot/kernel_tree.h>
struct io_rings { struct { u32 head, tail; } cq; int cqe; } rings;
struct io_ring_ctx { unsigned cached_cq_tail; struct io_rings *rings; } ctx = {.rings = &rings};
#include "../io_uring/io_uring.h"

static void *application(void *unused)
{
    if (smp_load_acquire(&rings.cq.tail)) BUG_ON(rings.cqe != 7);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, application, NULL);
    rings.cqe = 7;
    ctx.cached_cq_tail++;
    io_commit_cqring(&ctx);
    pthread_join(one, NULL);
}
