// The surroundings of a file of the Linux kernel: a program that includes this header first can then
// include headers and C files of a kernel tree, as they are, with `-I TREE/include`.
//
// The headers of a tree that define what weakspot/kernel.h has, or what has no part in its memory model,
// are those whose include guards are defined here. The tree's other headers are read. What a tree has
// only for one architecture, or once it is configured, stands in the folder kernel_tree/.
#pragma once
#pragma GCC system_header

#define __KERNEL__

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/types.h>
#include <weakspot/kernel.h>

#define __LINUX_COMPILER_H
#define __LINUX_COMPILER_TYPES_H
#define _LINUX_TYPES_H
#define _LINUX_KERNEL_H
#define _LINUX_ATOMIC_H
#define __LINUX_SPINLOCK_H
#define __LINUX_SPINLOCK_TYPES_H
#define __LINUX_PREEMPT_H
#define __LINUX_PERCPU_H
#define _LINUX_PERCPU_DEFS_H
#define _ASM_GENERIC_PERCPU_H_
#define _LINUX_SCHED_H
#define __LINUX_RCUPDATE_H
#define _LINUX_EXPORT_H
#define _LINUX_BUG_H
#define _LINUX_BUILD_BUG_H
#define __LINUX_LOCKDEP_H
#define _LINUX_CONTAINER_OF_H
#define _LINUX_SLAB_H
#define _LINUX_STRING_H_
#define _LINUX_STDDEF_H
#define _LINUX_TRACE_IRQFLAGS_H
#define __LINUX_SMP_H
#define __LINUX_MUTEX_H
#define __LINUX_MUTEX_TYPES_H
#define __LINUX_CPUMASK_H
#define _LINUX_KCSAN_CHECKS_H
#define __LINUX_UACCESS_H__
#define LINUX_HARDIRQ_H
#define _LINUX_LIMITS_H
#define __LINUX_GFP_H
#define _LINUX_MM_H
#define _LINUX_WAIT_H
#define _LINUX_SCATTERLIST_H
#define _LINUX_ERRNO_H
#define _LINUX_ERR_H
#define __LINUX_CACHE_H
#define _LINUX_BITOPS_H
#define _ASM_GENERIC_INT_LL64_H
#define _LINUX_SYSINFO_H
#define _LINUX_RCUWAIT_H_
#define _LINUX_TICK_H
#define _LINUX_CPU_H_
#define _LINUX_NOTIFIER_H
#define _LINUX_SMPBOOT_H
#define _LINUX_KASAN_H
#define _LINUX_INIT_H
#define _LINUX_INTERRUPT_H
#define _LINUX_SCHED_SIGNAL_H
#define LINUX_RESUME_USER_MODE_H
#define _TRACE_LOCK_H
#define _DEVICE_PRINTK_H_
#define _ASM_X86_BYTEORDER_H
#define _LINUX_PREFETCH_H

// Types
struct list_head {
  struct list_head *next, *prev;
};
struct hlist_node {
  struct hlist_node *next, **pprev;
};
struct hlist_head {
  struct hlist_node *first;
};
struct callback_head {
  struct callback_head *next;
  void (*func)(struct callback_head *head);
};
#define rcu_head callback_head
#include <weakspot/kernel_callbacks.h>
typedef unsigned gfp_t;
typedef unsigned long dma_addr_t;
typedef unsigned short umode_t;
#ifndef loff_t
typedef off_t loff_t;
#endif
typedef spinlock_t raw_spinlock_t;
typedef spinlock_t arch_spinlock_t;
struct mutex {
  pthread_mutex_t mutex;
};
#if __has_include(<linux/mutex_types.h>) // trees with headers for types
struct rcuwait {
  struct task_struct *task;
};
// clang-format off
#define __RCUWAIT_INITIALIZER(name)		\
	{ .task = NULL, }
// clang-format on
#endif

// Attributes, and what leaves no code
#define __percpu
#define __force
#define __private
#define __signed_wrap
#define __nonnull_args(...)
#ifndef __always_inline
#define __always_inline inline
#endif
#define __user
#define __must_check
#define __pure
#define __weak __attribute__((weak))
#define __cold
#define __init
#define __maybe_unused __attribute__((unused))
#define __cleanup(function) __maybe_unused __attribute__((cleanup(function)))
#define WEAKSPOT_JOINED(prefix, number) prefix##number
#define WEAKSPOT_UNIQUE(prefix, number) WEAKSPOT_JOINED(prefix, number)
#define __UNIQUE_ID(prefix) WEAKSPOT_UNIQUE(prefix, __COUNTER__)
#define __lockfunc
#if __has_include(<linux/compiler-context-analysis.h>)
#include <linux/compiler-context-analysis.h>
#else
#define __acquires(lock)
#define __releases(lock)
#define __cond_acquires(lock)
#define __acquire(lock) ((void)0)
#define __release(lock) ((void)0)
#endif
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define __cacheline_aligned_in_smp
#define EXPORT_SYMBOL(name)
#define cond_resched() ((void)0)
#define prefetchw(address) ((void)0)
#define irqs_disabled() 1
#define in_nmi() 0
#define panic_on_this_cpu() 0
#define debug_non_panic_cpus 0
#define cpu_is_offline(cpu) 0
#define kasan_record_aux_stack(address) ((void)0)
#define kasan_record_aux_stack_noalloc(address) ((void)0)
#define EXPORT_SYMBOL_GPL(name)
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define WARN(condition, ...) WARN_ON(condition)
#define WARN_ONCE(condition, ...) WARN_ON(condition)
#define IS_ENABLED(option) 0
#define ASSERT_EXCLUSIVE_WRITER(x) ((void)0)
#define ASSERT_EXCLUSIVE_ACCESS(x) ((void)0)
#define trace_contention_begin(lock, flags) ((void)0)
#define trace_contention_end(lock, result) ((void)0)
#define trace_contended_release_enabled() 0
#define trace_contended_release(lock) ((void)0)
#define trace_call__contended_release(lock) ((void)0)

#define lockdep_init_map(map, name, key, subclass) ((void)0)
#define lockdep_assert_preemption_disabled() ((void)0)
#define lockdep_assert_held(lock) ((void)0)
#define lockdep_irq_work_enter(flags) ((void)0)
#define lockdep_irq_work_exit(flags) ((void)0)
#define seqcount_acquire(map, subclass, trylock, address) ((void)0)
#define seqcount_release(map, address) ((void)0)
#define kcsan_atomic_next(count) ((void)0)
#define kcsan_nestable_atomic_begin() ((void)0)
#define kcsan_nestable_atomic_end() ((void)0)

// Values
#define __must_be_array(array) 0
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ALIGN(x, to) (((x) + (to) - 1) & ~((__typeof__(x))(to) - 1))
#define min_t(type, x, y) ((type)(x) < (type)(y) ? (type)(x) : (type)(y))
#define max_t(type, x, y) ((type)(x) > (type)(y) ? (type)(x) : (type)(y))
#define min(x, y) min_t(__typeof__((x) + (y)), x, y)
#define max(x, y) max_t(__typeof__((x) + (y)), x, y)
#define pr_warn_once(...) ((void)0)
#define pr_err(...) ((void)0)
#define pr_debug(...) ((void)0)
#define BITS_PER_LONG 64
#define NUMA_NO_NODE (-1)
#define TYPEOF_UNQUAL(x) __typeof_unqual__(x)
#define compiletime_assert_atomic_type(x) ((void)0)

#define MAX_ERRNO 4095
#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR(pointer) ((long)(pointer))
#define IS_ERR_VALUE(value) ((unsigned long)(value) >= (unsigned long)-MAX_ERRNO)
#define IS_ERR(pointer) IS_ERR_VALUE(pointer)

// Memory
#define SMP_CACHE_BYTES 64
#define KMALLOC_MAX_SIZE (1UL << 22)
#define kvmalloc_array(count, size, flags) calloc(count, size)
#define kvmalloc_array_noprof(count, size, flags) calloc(count, size)
#define kvfree(pointer) free(pointer)
#define kmalloc_array(count, size, flags) calloc(count, size)
#define kmalloc_array_noprof(count, size, flags) calloc(count, size)
#define kcalloc(count, size, flags) calloc(count, size)
#define kzalloc_obj(object, ...) ((__typeof__(object) *)calloc(1, sizeof(object)))
#define __GFP_ZERO 0

// Wait queues have no meaning: a thread that would sleep there is an error.
typedef struct {
  spinlock_t lock;
} wait_queue_head_t;
#define init_waitqueue_head(queue) spin_lock_init(&(queue)->lock)
#define DECLARE_WAIT_QUEUE_HEAD(name)
#define wake_up_all(queue) ((void)0)
#define test_and_clear_wake_up_bit(bit, word) test_and_clear_bit(bit, word)
#define clear_and_wake_up_bit(bit, word)                                                           \
  (clear_bit_unlock((bit), (word)), smp_mb__after_atomic())
#define wait_event(queue, condition)                                                               \
  ((condition) ? (void)0 : weakspot_unsupported("a wait queue"))
#define wait_event_lock_irq(queue, condition, lock) wait_event(queue, condition)

// Locks. There are no interrupts.
#define __ARCH_SPIN_LOCK_UNLOCKED {PTHREAD_MUTEX_INITIALIZER}
#define arch_spin_lock(lock) spin_lock(lock)
#define arch_spin_unlock(lock) spin_unlock(lock)
int arch_spin_is_locked(const arch_spinlock_t *lock); // without a meaning: an error where it is called
#define DEFINE_MUTEX(name) struct mutex name = {PTHREAD_MUTEX_INITIALIZER}
#define mutex_lock(lock) spin_lock(lock)
#define mutex_unlock(lock) spin_unlock(lock)
#define local_irq_save(flags) ((void)((flags) = 0))
#define local_irq_restore(flags) ((void)(flags))

// RCU, beside what weakspot/kernel.h has
#define rcu_dereference_raw(pointer) rcu_dereference(pointer)
#define rcu_dereference_check(pointer, condition) rcu_dereference(pointer)
#define rcu_read_lock_held() 1
#define RCU_LOCKDEP_WARN(condition, text) ((void)0)

// Waiting, beside what weakspot/kernel.h has
#define atomic_cond_read_relaxed(v, condition) smp_cond_load_relaxed(&(v)->counter, condition)
#define atomic_cond_read_acquire(v, condition) smp_cond_load_acquire(&(v)->counter, condition)

// Threads are CPUs: main is the first, and another one has the number of its thread, which its handle
// ends with.
#ifndef NR_CPUS
#define NR_CPUS 4
#endif
#define smp_processor_id() ((int)((uintptr_t)pthread_self() % 64))
#define raw_smp_processor_id() smp_processor_id()
#define DEFINE_PER_CPU(type, name)                                                                 \
  __typeof__(type) weakspot_percpu_##name[NR_CPUS];                                                \
  extern __typeof__(type) name __attribute__((alias("weakspot_percpu_" #name)))
#define DEFINE_PER_CPU_SHARED_ALIGNED(type, name) DEFINE_PER_CPU(type, name)
#define per_cpu_ptr(pointer, cpu) ((pointer) + (cpu))
#define per_cpu(name, cpu) (*per_cpu_ptr(&(name), cpu))
#define this_cpu_ptr(pointer) per_cpu_ptr(pointer, smp_processor_id())
#define raw_cpu_ptr(pointer) this_cpu_ptr(pointer)
#define this_cpu_add(x, count) ((void)(*this_cpu_ptr(&(x)) += (count)))
#define this_cpu_sub(x, count) this_cpu_add(x, -(count))
#define this_cpu_inc(x) this_cpu_add(x, 1)
#define this_cpu_dec(x) this_cpu_sub(x, 1)
#define __this_cpu_dec(x) this_cpu_dec(x)
#define __alloc_percpu_gfp(size, align, flags) calloc(NR_CPUS, size)
#define free_percpu(pointer) free(pointer)
#define for_each_possible_cpu(cpu) for (cpu = 0; cpu < NR_CPUS; cpu++)
#define preempt_disable() barrier()
#define preempt_enable() barrier()
#define need_resched() 0
#define vcpu_is_preempted(cpu) 0
#define in_interrupt() 0

// Guards of scopes, in trees that have them
#if __has_include(<linux/cleanup.h>)
#include <linux/cleanup.h>
#define WEAKSPOT_GUARD(name, type)                                                                 \
  DEFINE_LOCK_GUARD_1(name, type, spin_lock(_T->lock), spin_unlock(_T->lock))
WEAKSPOT_GUARD(spinlock, spinlock_t)
WEAKSPOT_GUARD(spinlock_irq, spinlock_t)
WEAKSPOT_GUARD(spinlock_irqsave, spinlock_t)
WEAKSPOT_GUARD(raw_spinlock, raw_spinlock_t)
WEAKSPOT_GUARD(raw_spinlock_irq, raw_spinlock_t)
WEAKSPOT_GUARD(raw_spinlock_irqsave, raw_spinlock_t)
WEAKSPOT_GUARD(mutex, struct mutex)
DEFINE_LOCK_GUARD_0(preempt, preempt_disable(), preempt_enable())
DEFINE_LOCK_GUARD_0(rcu, rcu_read_lock(), rcu_read_unlock())
#endif
