#include <weakspot/kernel_tree.h>
#define current ((struct task_struct *)8)
struct task_struct;
#define DEBUG_RWSEMS_WARN_ON(condition, semaphore) ((void)0)
#define RWSEM_UNLOCKED_VALUE 0
struct rw_semaphore { atomic_long_t count, owner; } semaphore;
#define rwsem_clear_reader_owned(semaphore) ((void)0)
#define clear_nonspinnable(semaphore) ((void)0)
#define rwsem_wake(semaphore) BUG()
#include "../kernel/locking/rwsem.c"
static int data;

static void *reader(void *unused)
{
    if (__down_read_trylock(&semaphore)) {
        BUG_ON(data == 1);
        __up_read(&semaphore);
    }
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, reader, NULL);
    if (__down_write_trylock(&semaphore)) {
        data = 1, data = 2;
        __up_write(&semaphore);
    }
    pthread_join(one, NULL);
}
