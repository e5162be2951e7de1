// The Linux kernel's primitives, for programs that are explored under the kernel's own memory model:
// `weakspot check FILE.c -m lkmm`. Threads are those of pthread.h.
//
// The names are those of the kernel's documentation (atomic_t.txt, memory-barriers.txt), the meaning that
// of tools/memory-model/linux-kernel.def: relaxed atomic accesses are once, acquire and release are
// themselves, a seq_cst fence is mb, and a seq_cst read-modify-write stands between two of these if it
// succeeds. What C has no operation for is a function that only the engine knows; under models of C and
// of machines it has no meaning.
#pragma once
#pragma GCC system_header

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

// By this the front end knows the programs that include this header.
__attribute__((used)) static const char weakspot_kernel_header = 0;

// The type of an object that is pointed to, without qualifiers.
#define WEAKSPOT_TYPE(pointer) __typeof__(((void)0, *(pointer)))

// Accesses
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELAXED)
#define smp_load_acquire(pointer) __atomic_load_n((pointer), __ATOMIC_ACQUIRE)
#define smp_store_release(pointer, value) __atomic_store_n((pointer), (value), __ATOMIC_RELEASE)
#define smp_store_mb(x, value)                                                                     \
  do {                                                                                             \
    WRITE_ONCE(x, value);                                                                          \
    smp_mb();                                                                                      \
  } while (0)

// Fences
void weakspot_kernel_rmb(void);
void weakspot_kernel_wmb(void);
void weakspot_kernel_barrier(void);
void weakspot_kernel_before_atomic(void);
void weakspot_kernel_after_atomic(void);
void weakspot_kernel_after_spinlock(void);
void weakspot_kernel_after_unlock_lock(void);
void weakspot_kernel_after_srcu_unlock(void);
void weakspot_kernel_rcu_lock(void);
void weakspot_kernel_rcu_unlock(void);
void weakspot_kernel_sync_rcu(void);

#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb() weakspot_kernel_rmb()
#define smp_wmb() weakspot_kernel_wmb()
#define barrier() weakspot_kernel_barrier()
#define smp_mb__before_atomic() weakspot_kernel_before_atomic()
#define smp_mb__after_atomic() weakspot_kernel_after_atomic()
#define smp_mb__after_spinlock() weakspot_kernel_after_spinlock()
#define smp_mb__after_unlock_lock() weakspot_kernel_after_unlock_lock()
#define smp_mb__after_srcu_read_unlock() weakspot_kernel_after_srcu_unlock()
#define smp_acquire__after_ctrl_dep() smp_rmb()

// RCU
#define rcu_read_lock() weakspot_kernel_rcu_lock()
#define rcu_read_unlock() weakspot_kernel_rcu_unlock()
#define synchronize_rcu() weakspot_kernel_sync_rcu()
#define synchronize_rcu_expedited() weakspot_kernel_sync_rcu()
#define rcu_dereference(pointer) READ_ONCE(pointer)
#define rcu_dereference_protected(pointer, condition) (pointer)
#define rcu_access_pointer(pointer) READ_ONCE(pointer)
#define rcu_assign_pointer(pointer, value) smp_store_release(&(pointer), (value))
#define RCU_INIT_POINTER(pointer, value) WRITE_ONCE(pointer, value)
#define __rcu

// SRCU. There is nothing to initialise.
struct srcu_struct {
  int weakspot_unused;
};
int weakspot_kernel_srcu_lock(struct srcu_struct *srcu);
void weakspot_kernel_srcu_unlock(struct srcu_struct *srcu, int index);
void weakspot_kernel_sync_srcu(struct srcu_struct *srcu);

#define DEFINE_SRCU(name) struct srcu_struct name
#define DEFINE_STATIC_SRCU(name) static struct srcu_struct name
static inline int init_srcu_struct(struct srcu_struct *srcu) {
  (void)srcu;
  return 0;
}
static inline void cleanup_srcu_struct(struct srcu_struct *srcu) { (void)srcu; }
#define srcu_read_lock(srcu) weakspot_kernel_srcu_lock(srcu)
#define srcu_read_unlock(srcu, index) weakspot_kernel_srcu_unlock((srcu), (index))
#define synchronize_srcu(srcu) weakspot_kernel_sync_srcu(srcu)
#define synchronize_srcu_expedited(srcu) weakspot_kernel_sync_srcu(srcu)
#define srcu_dereference(pointer, srcu) rcu_dereference(pointer)

// Exchanges
#define WEAKSPOT_EXCHANGE(pointer, value, order)                                                   \
  __atomic_exchange_n((pointer), (value), __ATOMIC_##order)
#define xchg(pointer, value) WEAKSPOT_EXCHANGE(pointer, value, SEQ_CST)
#define xchg_relaxed(pointer, value) WEAKSPOT_EXCHANGE(pointer, value, RELAXED)
#define xchg_acquire(pointer, value) WEAKSPOT_EXCHANGE(pointer, value, ACQUIRE)
#define xchg_release(pointer, value) WEAKSPOT_EXCHANGE(pointer, value, RELEASE)

#define WEAKSPOT_TRY(pointer, expected, value, order)                                              \
  __atomic_compare_exchange_n((pointer), (expected), (value), 0, __ATOMIC_##order, __ATOMIC_RELAXED)
#define try_cmpxchg(pointer, expected, value) WEAKSPOT_TRY(pointer, expected, value, SEQ_CST)
#define try_cmpxchg_relaxed(pointer, expected, value)                                              \
  WEAKSPOT_TRY(pointer, expected, value, RELAXED)
#define try_cmpxchg_acquire(pointer, expected, value)                                              \
  WEAKSPOT_TRY(pointer, expected, value, ACQUIRE)
#define try_cmpxchg_release(pointer, expected, value)                                              \
  WEAKSPOT_TRY(pointer, expected, value, RELEASE)

// The value that was there, which depends on the read where the exchange has succeeded too.
#define WEAKSPOT_COMPARE(pointer, old, value, order)                                               \
  __extension__({                                                                                  \
    WEAKSPOT_TYPE(pointer) weakspot_old = (old);                                                   \
    const bool weakspot_same = WEAKSPOT_TRY(pointer, &weakspot_old, value, order);                 \
    (WEAKSPOT_TYPE(pointer))((uintptr_t)weakspot_old | ((uintptr_t)weakspot_same & 0));            \
  })
#define cmpxchg(pointer, old, value) WEAKSPOT_COMPARE(pointer, old, value, SEQ_CST)
#define cmpxchg_relaxed(pointer, old, value) WEAKSPOT_COMPARE(pointer, old, value, RELAXED)
#define cmpxchg_acquire(pointer, old, value) WEAKSPOT_COMPARE(pointer, old, value, ACQUIRE)
#define cmpxchg_release(pointer, old, value) WEAKSPOT_COMPARE(pointer, old, value, RELEASE)

// atomic_t, atomic64_t, atomic_long_t
void weakspot_kernel_add32(volatile void *, unsigned);
void weakspot_kernel_sub32(volatile void *, unsigned);
void weakspot_kernel_and32(volatile void *, unsigned);
void weakspot_kernel_or32(volatile void *, unsigned);
void weakspot_kernel_xor32(volatile void *, unsigned);
void weakspot_kernel_add64(volatile void *, unsigned long);
void weakspot_kernel_sub64(volatile void *, unsigned long);
void weakspot_kernel_and64(volatile void *, unsigned long);
void weakspot_kernel_or64(volatile void *, unsigned long);
void weakspot_kernel_xor64(volatile void *, unsigned long);
u32 weakspot_kernel_add_unless32(volatile void *, u32, u32);
u64 weakspot_kernel_add_unless64(volatile void *, u64, u64);
u32 weakspot_kernel_add_if_greater32(volatile void *, u32, u32);
u64 weakspot_kernel_add_if_greater64(volatile void *, u64, u64);

typedef struct {
  int counter;
} atomic_t;
typedef struct {
  s64 counter;
} atomic64_t;
typedef struct {
  long counter;
} atomic_long_t;
#define ATOMIC_INIT(value) {(value)}
#define ATOMIC64_INIT(value) {(value)}
#define ATOMIC_LONG_INIT(value) {(value)}

// As in the model, what an operation returns depends on its operand too.
#define WEAKSPOT_ORDERED(atomic, type, suffix, order)                                              \
  static inline type atomic##_fetch_add##suffix(type i, atomic##_t *v) {                           \
    return __atomic_fetch_add(&v->counter, i, __ATOMIC_##order) | (i & 0);                         \
  }                                                                                                \
  static inline type atomic##_fetch_sub##suffix(type i, atomic##_t *v) {                           \
    return __atomic_fetch_sub(&v->counter, i, __ATOMIC_##order) | (i & 0);                         \
  }                                                                                                \
  static inline type atomic##_fetch_and##suffix(type i, atomic##_t *v) {                           \
    return __atomic_fetch_and(&v->counter, i, __ATOMIC_##order) | (i & 0);                         \
  }                                                                                                \
  static inline type atomic##_fetch_or##suffix(type i, atomic##_t *v) {                            \
    return __atomic_fetch_or(&v->counter, i, __ATOMIC_##order) | (i & 0);                          \
  }                                                                                                \
  static inline type atomic##_fetch_xor##suffix(type i, atomic##_t *v) {                           \
    return __atomic_fetch_xor(&v->counter, i, __ATOMIC_##order) | (i & 0);                         \
  }                                                                                                \
  static inline type atomic##_fetch_andnot##suffix(type i, atomic##_t *v) {                        \
    return __atomic_fetch_and(&v->counter, ~i, __ATOMIC_##order) | (i & 0);                        \
  }                                                                                                \
  static inline type atomic##_fetch_inc##suffix(atomic##_t *v) {                                   \
    return __atomic_fetch_add(&v->counter, 1, __ATOMIC_##order);                                   \
  }                                                                                                \
  static inline type atomic##_fetch_dec##suffix(atomic##_t *v) {                                   \
    return __atomic_fetch_sub(&v->counter, 1, __ATOMIC_##order);                                   \
  }                                                                                                \
  static inline type atomic##_add_return##suffix(type i, atomic##_t *v) {                          \
    return __atomic_add_fetch(&v->counter, i, __ATOMIC_##order);                                   \
  }                                                                                                \
  static inline type atomic##_sub_return##suffix(type i, atomic##_t *v) {                          \
    return __atomic_sub_fetch(&v->counter, i, __ATOMIC_##order);                                   \
  }                                                                                                \
  static inline type atomic##_inc_return##suffix(atomic##_t *v) {                                  \
    return __atomic_add_fetch(&v->counter, 1, __ATOMIC_##order);                                   \
  }                                                                                                \
  static inline type atomic##_dec_return##suffix(atomic##_t *v) {                                  \
    return __atomic_sub_fetch(&v->counter, 1, __ATOMIC_##order);                                   \
  }                                                                                                \
  static inline type atomic##_xchg##suffix(atomic##_t *v, type value) {                            \
    return WEAKSPOT_EXCHANGE(&v->counter, value, order);                                           \
  }                                                                                                \
  static inline type atomic##_cmpxchg##suffix(atomic##_t *v, type old, type value) {               \
    return WEAKSPOT_COMPARE(&v->counter, old, value, order);                                       \
  }                                                                                                \
  static inline bool atomic##_try_cmpxchg##suffix(atomic##_t *v, type *old, type value) {          \
    return WEAKSPOT_TRY(&v->counter, old, value, order);                                           \
  }

#define WEAKSPOT_ATOMIC(atomic, type, bits)                                                        \
  static inline type atomic##_read(const atomic##_t *v) { return READ_ONCE(v->counter); }          \
  static inline type atomic##_read_acquire(const atomic##_t *v) {                                  \
    return smp_load_acquire(&v->counter);                                                          \
  }                                                                                                \
  static inline void atomic##_set(atomic##_t *v, type value) { WRITE_ONCE(v->counter, value); }    \
  static inline void atomic##_set_release(atomic##_t *v, type value) {                             \
    smp_store_release(&v->counter, value);                                                         \
  }                                                                                                \
  static inline void atomic##_add(type i, atomic##_t *v) {                                         \
    weakspot_kernel_add##bits(&v->counter, i);                                                     \
  }                                                                                                \
  static inline void atomic##_sub(type i, atomic##_t *v) {                                         \
    weakspot_kernel_sub##bits(&v->counter, i);                                                     \
  }                                                                                                \
  static inline void atomic##_and(type i, atomic##_t *v) {                                         \
    weakspot_kernel_and##bits(&v->counter, i);                                                     \
  }                                                                                                \
  static inline void atomic##_or(type i, atomic##_t *v) {                                          \
    weakspot_kernel_or##bits(&v->counter, i);                                                      \
  }                                                                                                \
  static inline void atomic##_xor(type i, atomic##_t *v) {                                         \
    weakspot_kernel_xor##bits(&v->counter, i);                                                     \
  }                                                                                                \
  static inline void atomic##_andnot(type i, atomic##_t *v) {                                      \
    weakspot_kernel_and##bits(&v->counter, ~i);                                                    \
  }                                                                                                \
  static inline void atomic##_inc(atomic##_t *v) { weakspot_kernel_add##bits(&v->counter, 1); }    \
  static inline void atomic##_dec(atomic##_t *v) { weakspot_kernel_sub##bits(&v->counter, 1); }    \
  WEAKSPOT_ORDERED(atomic, type, , SEQ_CST)                                                        \
  WEAKSPOT_ORDERED(atomic, type, _relaxed, RELAXED)                                                \
  WEAKSPOT_ORDERED(atomic, type, _acquire, ACQUIRE)                                                \
  WEAKSPOT_ORDERED(atomic, type, _release, RELEASE)                                                \
  static inline bool atomic##_sub_and_test(type i, atomic##_t *v) {                                \
    return atomic##_sub_return(i, v) == 0;                                                         \
  }                                                                                                \
  static inline bool atomic##_dec_and_test(atomic##_t *v) {                                        \
    return atomic##_dec_return(v) == 0;                                                            \
  }                                                                                                \
  static inline bool atomic##_inc_and_test(atomic##_t *v) {                                        \
    return atomic##_inc_return(v) == 0;                                                            \
  }                                                                                                \
  static inline bool atomic##_add_negative(type i, atomic##_t *v) {                                \
    return atomic##_add_return(i, v) < 0;                                                          \
  }                                                                                                \
  static inline type atomic##_fetch_add_unless(atomic##_t *v, type i, type unless) {               \
    return (type)weakspot_kernel_add_unless##bits(&v->counter, (u##bits)i, (u##bits)unless);       \
  }                                                                                                \
  static inline bool atomic##_add_unless(atomic##_t *v, type i, type unless) {                     \
    return atomic##_fetch_add_unless(v, i, unless) != unless;                                      \
  }                                                                                                \
  static inline bool atomic##_inc_not_zero(atomic##_t *v) {                                        \
    return atomic##_add_unless(v, 1, 0);                                                           \
  }                                                                                                \
  static inline type atomic##_dec_if_positive(atomic##_t *v) {                                     \
    return (type)(weakspot_kernel_add_if_greater##bits(&v->counter, (u##bits)-1, 0) - 1);          \
  }                                                                                                \
  static inline bool atomic##_inc_unless_negative(atomic##_t *v) {                                 \
    return (type)weakspot_kernel_add_if_greater##bits(&v->counter, 1, (u##bits)-1) >= 0;           \
  }

WEAKSPOT_ATOMIC(atomic, int, 32)
WEAKSPOT_ATOMIC(atomic64, s64, 64)
WEAKSPOT_ATOMIC(atomic_long, long, 64)

// Spin locks. One that is zero is free. There are no interrupts: the variants that disable them are the
// same.
typedef struct {
  pthread_mutex_t mutex;
} spinlock_t;
typedef spinlock_t raw_spinlock_t;
#define __SPIN_LOCK_UNLOCKED(name) {PTHREAD_MUTEX_INITIALIZER}
#define __RAW_SPIN_LOCK_UNLOCKED(name) __SPIN_LOCK_UNLOCKED(name)
#define DEFINE_SPINLOCK(name) spinlock_t name = __SPIN_LOCK_UNLOCKED(name)
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

int weakspot_kernel_is_locked(const void *lock);

static inline void spin_lock_init(spinlock_t *lock) { pthread_mutex_init(&lock->mutex, NULL); }
#define spin_lock(lock) ((void)pthread_mutex_lock(&(lock)->mutex))
#define spin_trylock(lock) (pthread_mutex_trylock(&(lock)->mutex) == 0)
#define spin_unlock(lock) ((void)pthread_mutex_unlock(&(lock)->mutex))
// the lowest byte is the thread that holds it
#define spin_is_locked(lock) ((weakspot_kernel_is_locked(lock) & 0xff) != 0)

#define local_irq_save(flags) ((void)((flags) = 0))
#define local_irq_restore(flags) ((void)(flags))
#define local_irq_disable() ((void)0)
#define local_irq_enable() ((void)0)
#define local_bh_disable() ((void)0)
#define local_bh_enable() ((void)0)
#define preempt_disable() barrier()
#define preempt_enable() barrier()

#define spin_lock_nested(lock, subclass) spin_lock(lock)
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_lock_bh(lock) spin_lock(lock)
#define spin_lock_irqsave(lock, flags) (local_irq_save(flags), spin_lock(lock))
#define spin_trylock_irq(lock) spin_trylock(lock)
#define spin_trylock_bh(lock) spin_trylock(lock)
#define spin_trylock_irqsave(lock, flags) (local_irq_save(flags), spin_trylock(lock))
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_unlock_irqrestore(lock, flags) (local_irq_restore(flags), spin_unlock(lock))
#define assert_spin_locked(lock) BUG_ON(!spin_is_locked(lock))

#define raw_spin_lock_init(lock) spin_lock_init(lock)
#define raw_spin_lock(lock) spin_lock(lock)
#define raw_spin_lock_nested(lock, subclass) spin_lock(lock)
#define raw_spin_lock_irq(lock) spin_lock(lock)
#define raw_spin_lock_bh(lock) spin_lock(lock)
#define raw_spin_lock_irqsave(lock, flags) spin_lock_irqsave(lock, flags)
#define raw_spin_trylock(lock) spin_trylock(lock)
#define raw_spin_trylock_irqsave(lock, flags) spin_trylock_irqsave(lock, flags)
#define raw_spin_unlock(lock) spin_unlock(lock)
#define raw_spin_unlock_irq(lock) spin_unlock(lock)
#define raw_spin_unlock_bh(lock) spin_unlock(lock)
#define raw_spin_unlock_irqrestore(lock, flags) spin_unlock_irqrestore(lock, flags)
#define raw_spin_is_locked(lock) spin_is_locked(lock)

// What checks lock dependencies at run time has no effect.
#define lockdep_assert_held(lock) ((void)(lock))
#define lockdep_assert_not_held(lock) ((void)(lock))
#define lockdep_is_held(lock) 1
#define lockdep_set_class(lock, key) ((void)(lock))
#define lockdep_init_map(map, name, key, subclass) ((void)0)

// Waiting
#define cpu_relax() ((void)0)
#define WEAKSPOT_AWAIT(pointer, condition, order)                                                  \
  __extension__({                                                                                  \
    WEAKSPOT_TYPE(pointer) VAL;                                                                    \
    for (;;) {                                                                                     \
      VAL = __atomic_load_n((pointer), __ATOMIC_##order);                                          \
      if (condition)                                                                               \
        break;                                                                                     \
    }                                                                                              \
    VAL;                                                                                           \
  })
#define smp_cond_load_relaxed(pointer, condition) WEAKSPOT_AWAIT(pointer, condition, RELAXED)
#define smp_cond_load_acquire(pointer, condition) WEAKSPOT_AWAIT(pointer, condition, ACQUIRE)

// Assertions
#define BUG() assert(!"BUG")
#define WEAKSPOT_ASSERT(holds, text)                                                               \
  ((void)((holds) || (__assert_fail(text, __FILE__, __LINE__, __func__), 0)))
#define BUG_ON(condition) WEAKSPOT_ASSERT(!(condition), "!(" #condition ")")
#define WARN_ON(condition)                                                                         \
  __extension__({                                                                                  \
    const bool weakspot_warns = (condition);                                                       \
    WEAKSPOT_ASSERT(!weakspot_warns, "!(" #condition ")");                                         \
    weakspot_warns;                                                                                \
  })
#define WARN_ON_ONCE(condition) WARN_ON(condition)

// What has another meaning in a user's program, or none
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define data_race(expression) (expression)
#define __always_inline inline __attribute__((always_inline))
#define noinline __attribute__((noinline))
#define container_of(pointer, type, member)                                                        \
  ((type *)((char *)(pointer) - offsetof(type, member)))
#define GFP_KERNEL 0
#define GFP_ATOMIC 0
#define kmalloc(size, flags) malloc(size)
#define kzalloc(size, flags) calloc(1, size)
#define kfree(pointer) free(pointer)

#include <weakspot/kernel_bits.h>

// A kernel tree's own headers (weakspot/kernel_tree.h) have these.
#ifndef __KERNEL__
#include <weakspot/kernel_callbacks.h>
#include <weakspot/kernel_locks.h>
#endif
