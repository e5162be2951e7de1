// qspinlock.c as it is compiled for 16384 CPUs or more, with an unlock that accesses the whole word.
#include <weakspot/kernel_tree.h>
#define CONFIG_NR_CPUS 16384
#define MAX_NODES 4
#undef arch_spin_lock
#undef arch_spin_unlock
#define arch_spinlock_t queued_spinlock_t
#define queued_spin_unlock(lock) ((void)atomic_sub_return_release(_Q_LOCKED_VAL, &(lock)->val))
#define DEFINE_PER_CPU_ALIGNED(type, name) type qnodes[MAX_NODES * NR_CPUS]
#undef per_cpu_ptr
#define per_cpu_ptr(pointer, cpu) ((__typeof__(pointer))((struct qnode *)(pointer) + (cpu) * MAX_NODES))
#include "../kernel/locking/qspinlock.c"
