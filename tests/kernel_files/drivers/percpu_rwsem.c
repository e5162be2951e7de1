#include <weakspot/kernel_tree.h>
struct percpu_rw_semaphore { unsigned *read_count; atomic_t block; int writer; };
#define this_cpu_inc(x) WRITE_ONCE(*this_cpu_ptr(&(x)), READ_ONCE(*this_cpu_ptr(&(x))) + 1)
#define this_cpu_dec(x) WRITE_ONCE(*this_cpu_ptr(&(x)), READ_ONCE(*this_cpu_ptr(&(x))) - 1)
#define compiletime_assert_atomic_type(x) ((void)0)
#define for_each_possible_cpu(cpu) for (cpu = 0; cpu < 2; cpu++)
#define rcuwait_wake_up(wait) ((void)0)
#include "../kernel/locking/percpu-rwsem.c"

static unsigned counts[2];
static struct percpu_rw_semaphore semaphore = {.read_count = counts};
static int data;

static void *reader(void *unused)
{
    if (__percpu_down_read_trylock(&semaphore)) {
        WRITE_ONCE(data, 1), WRITE_ONCE(data, 0);
        smp_mb(); // that of percpu_up_read()
        this_cpu_dec(*semaphore.read_count);
    }
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, reader, NULL);
    if (__percpu_down_write_trylock(&semaphore) && readers_active_check(&semaphore))
        BUG_ON(READ_ONCE(data));
    pthread_join(one, NULL);
}
