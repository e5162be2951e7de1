#include <weakspot/kernel_tree.h>
enum { BPF_RINGBUF_HDR_SZ = 8, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_NO_WAKEUP = 1 };
#define BPF_RINGBUF_BUSY_BIT (1U << 31)
#define BPF_RINGBUF_DISCARD_BIT (1U << 30)
#define bpf_ringbuf_restore_from_rec(header) (&ring)
#define irq_work_queue(work) ((void)0)
struct bpf_ringbuf_hdr { u32 len, pg_off; };
static struct bpf_ringbuf {
    u64 mask; unsigned long consumer_pos; int work; struct bpf_ringbuf_hdr data[2];
} ring = {.mask = 15, .data = {{BPF_RINGBUF_BUSY_BIT | 4}}};
#include "../kernel/bpf/ringbuf.c"

static void *producer(void *record)
{
    *(u32 *)record = 7;
    bpf_ringbuf_commit(record, BPF_RB_NO_WAKEUP, false);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, producer, &ring.data[1]);
    if (!(smp_load_acquire(&ring.data[0].len) & BPF_RINGBUF_BUSY_BIT))
        BUG_ON(ring.data[1].len != 7);
    pthread_join(one, NULL);
}
