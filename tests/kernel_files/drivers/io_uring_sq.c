#include <weakspot/kernel_tree.h>
struct io_uring_sqe { int opcode; } sqes[1];
struct io_uring { u32 head, tail; };
struct io_rings { struct io_uring sq, cq; u32 sq_dropped; } rings;
struct io_ring_ctx {
    unsigned sq_entries, cached_sq_head, cached_cq_tail, flags, cq_extra, *sq_array;
    struct io_uring_sqe *sq_sqes; struct io_rings *rings;
    spinlock_t completion_lock;
} ctx = {.sq_entries = 1, .sq_array = &(unsigned){0}, .sq_sqes = sqes, .rings = &rings};
enum { IORING_SETUP_SQE128 = 1024, IORING_SETUP_NO_SQARRAY = 65536 };
#include "../io_uring/io_uring.h"
#include "../io_uring/io_uring.c"

static void *application(void *unused)
{
    for (u32 tail = 0; tail < 2 && tail - smp_load_acquire(&rings.sq.head) < 1; tail++) {
        sqes[0].opcode = tail + 1;
        smp_store_release(&rings.sq.tail, tail + 1);
    }
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, application, NULL);
    const struct io_uring_sqe *sqe;
    if (io_sqring_entries(&ctx) && io_get_sqe(&ctx, &sqe)) BUG_ON(sqe->opcode != 1);
    io_commit_sqring(&ctx);
    pthread_join(one, NULL);
}
