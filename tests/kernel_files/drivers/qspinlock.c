#include <weakspot/kernel_tree.h>
#define CONFIG_NR_CPUS 16384
#undef arch_spin_lock
#undef arch_spin_unlock
#define arch_spinlock_t queued_spinlock_t
#define queued_spin_unlock(lock) ((void)atomic_sub_return_release(_Q_LOCKED_VAL, &(lock)->val))
#define DEFINE_PER_CPU_ALIGNED(type, name) type qnodes[MAX_NODES * NR_CPUS]
#undef per_cpu_ptr
#define per_cpu_ptr(pointer, cpu) ((__typeof__(pointer))((struct qnode *)(pointer) + (cpu) * MAX_NODES))
#include "../kernel/locking/qspinlock.c"

// main holds the lock
static struct qspinlock lock = {.val = ATOMIC_INIT(_Q_LOCKED_VAL)};
static int data;

static void *worker(void *unused)
{
    queued_spin_lock(&lock);
    BUG_ON(data != 1);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, worker, NULL);
    data = 1;
    queued_spin_unlock(&lock);
    pthread_join(one, NULL);
}
