#include <weakspot/kernel_tree.h>
#define local_read(v) atomic_long_read(v)
#define perf_output_wakeup(handle) ((void)0)
struct perf_event_mmap_page { u64 data_head; } page;
struct perf_buffer {
    atomic_long_t head, wakeup; unsigned nest; struct perf_event_mmap_page *user_page;
} buffer = {.user_page = &page, .nest = 1};
struct perf_output_handle { struct perf_buffer *rb; long wakeup; } handle = {&buffer, 0};
static int data;
#include "../kernel/events/ring_buffer.c"

static void *user(void *unused)
{
    if (READ_ONCE(page.data_head)) {
        smp_rmb();
        BUG_ON(data != 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, user, NULL);
    atomic_long_set(&buffer.head, 1);
    data = 1;
    perf_output_put_handle(&handle);
    pthread_join(one, NULL);
}
