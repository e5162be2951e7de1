// Locks of the Linux kernel for which its memory model has no events: part of weakspot/kernel.h. Each is a
// word that atomic operations change, with the order that the kernel promises: taking is an acquire, and
// releasing a release. Who waits first, and whether readers or writers are preferred, is left open.
#pragma once
#pragma GCC system_header

// Reader-writer locks: the number of readers, or the bit of a writer, as in qrwlock.h
#define WEAKSPOT_WRITER (1 << 30)
typedef struct {
  atomic_t cnts;
} rwlock_t;
#define __RW_LOCK_UNLOCKED(name) {{0}}
#define DEFINE_RWLOCK(name) rwlock_t name = __RW_LOCK_UNLOCKED(name)

static inline bool weakspot_read_trylock(atomic_t *cnts) {
  int old = atomic_read(cnts);
  do {
    if (old & WEAKSPOT_WRITER)
      return false;
  } while (!atomic_try_cmpxchg_acquire(cnts, &old, old + 1));
  return true;
}
static inline bool weakspot_write_trylock(atomic_t *cnts) {
  int old = 0;
  return atomic_try_cmpxchg_acquire(cnts, &old, WEAKSPOT_WRITER);
}
static inline void weakspot_read_lock(atomic_t *cnts) {
  while (!weakspot_read_trylock(cnts))
    cpu_relax();
}
static inline void weakspot_write_lock(atomic_t *cnts) {
  while (!weakspot_write_trylock(cnts))
    cpu_relax();
}
static inline void weakspot_read_unlock(atomic_t *cnts) { (void)atomic_dec_return_release(cnts); }
static inline void weakspot_write_unlock(atomic_t *cnts) { atomic_set_release(cnts, 0); }

static inline void rwlock_init(rwlock_t *lock) { atomic_set(&lock->cnts, 0); }
static inline void read_lock(rwlock_t *lock) { weakspot_read_lock(&lock->cnts); }
static inline void write_lock(rwlock_t *lock) { weakspot_write_lock(&lock->cnts); }
static inline bool read_trylock(rwlock_t *lock) { return weakspot_read_trylock(&lock->cnts); }
static inline bool write_trylock(rwlock_t *lock) { return weakspot_write_trylock(&lock->cnts); }
static inline void read_unlock(rwlock_t *lock) { weakspot_read_unlock(&lock->cnts); }
static inline void write_unlock(rwlock_t *lock) { weakspot_write_unlock(&lock->cnts); }
#define read_lock_irq(lock) read_lock(lock)
#define read_lock_bh(lock) read_lock(lock)
#define read_lock_irqsave(lock, flags) (local_irq_save(flags), read_lock(lock))
#define read_unlock_irq(lock) read_unlock(lock)
#define read_unlock_bh(lock) read_unlock(lock)
#define read_unlock_irqrestore(lock, flags) (local_irq_restore(flags), read_unlock(lock))
#define write_lock_irq(lock) write_lock(lock)
#define write_lock_bh(lock) write_lock(lock)
#define write_lock_irqsave(lock, flags) (local_irq_save(flags), write_lock(lock))
#define write_unlock_irq(lock) write_unlock(lock)
#define write_unlock_bh(lock) write_unlock(lock)
#define write_unlock_irqrestore(lock, flags) (local_irq_restore(flags), write_unlock(lock))

// Semaphores with readers and writers, and mutexes
struct rw_semaphore {
  atomic_t count;
};
#define DECLARE_RWSEM(name) struct rw_semaphore name = {{0}}
static inline void init_rwsem(struct rw_semaphore *sem) { atomic_set(&sem->count, 0); }
static inline void down_read(struct rw_semaphore *sem) { weakspot_read_lock(&sem->count); }
static inline void down_write(struct rw_semaphore *sem) { weakspot_write_lock(&sem->count); }
static inline int down_read_trylock(struct rw_semaphore *sem) {
  return weakspot_read_trylock(&sem->count);
}
static inline int down_write_trylock(struct rw_semaphore *sem) {
  return weakspot_write_trylock(&sem->count);
}
static inline void up_read(struct rw_semaphore *sem) { weakspot_read_unlock(&sem->count); }
static inline void up_write(struct rw_semaphore *sem) { weakspot_write_unlock(&sem->count); }
static inline void downgrade_write(struct rw_semaphore *sem) { atomic_set_release(&sem->count, 1); }

struct mutex {
  atomic_t owner;
};
#define DEFINE_MUTEX(name) struct mutex name = {{0}}
static inline void mutex_init(struct mutex *lock) { atomic_set(&lock->owner, 0); }
static inline void mutex_lock(struct mutex *lock) { weakspot_write_lock(&lock->owner); }
static inline int mutex_trylock(struct mutex *lock) { return weakspot_write_trylock(&lock->owner); }
static inline void mutex_unlock(struct mutex *lock) { weakspot_write_unlock(&lock->owner); }
static inline bool mutex_is_locked(struct mutex *lock) { return atomic_read(&lock->owner) != 0; }

// Sequence counters. The kernel declares the plain increments of a writer to be intended races: they are
// marked here.
typedef struct {
  unsigned sequence;
} seqcount_t;
#define SEQCNT_ZERO(name) {0}
static inline void seqcount_init(seqcount_t *s) { WRITE_ONCE(s->sequence, 0); }
static inline unsigned read_seqcount_begin(const seqcount_t *s) {
  unsigned start;
  while ((start = READ_ONCE(s->sequence)) & 1)
    cpu_relax();
  smp_rmb();
  return start;
}
static inline unsigned raw_read_seqcount(const seqcount_t *s) {
  const unsigned start = READ_ONCE(s->sequence);
  smp_rmb();
  return start;
}
static inline bool read_seqcount_retry(const seqcount_t *s, unsigned start) {
  smp_rmb();
  return READ_ONCE(s->sequence) != start;
}
static inline void write_seqcount_begin(seqcount_t *s) {
  WRITE_ONCE(s->sequence, READ_ONCE(s->sequence) + 1);
  smp_wmb();
}
static inline void write_seqcount_end(seqcount_t *s) {
  smp_wmb();
  WRITE_ONCE(s->sequence, READ_ONCE(s->sequence) + 1);
}

typedef struct {
  seqcount_t seqcount;
  spinlock_t lock;
} seqlock_t;
#define DEFINE_SEQLOCK(name) seqlock_t name
static inline void seqlock_init(seqlock_t *lock) {
  seqcount_init(&lock->seqcount);
  spin_lock_init(&lock->lock);
}
static inline unsigned read_seqbegin(const seqlock_t *lock) {
  return read_seqcount_begin(&lock->seqcount);
}
static inline bool read_seqretry(const seqlock_t *lock, unsigned start) {
  return read_seqcount_retry(&lock->seqcount, start);
}
static inline void write_seqlock(seqlock_t *lock) {
  spin_lock(&lock->lock);
  write_seqcount_begin(&lock->seqcount);
}
static inline void write_sequnlock(seqlock_t *lock) {
  write_seqcount_end(&lock->seqcount);
  spin_unlock(&lock->lock);
}

// Completions: how often one may be waited for without waiting
struct completion {
  atomic_t done;
};
#define DECLARE_COMPLETION(name) struct completion name = {{0}}
static inline void init_completion(struct completion *x) { atomic_set(&x->done, 0); }
static inline void complete(struct completion *x) { (void)atomic_fetch_inc_release(&x->done); }
static inline bool try_wait_for_completion(struct completion *x) {
  int old = atomic_read(&x->done);
  do {
    if (old == 0)
      return false;
  } while (!atomic_try_cmpxchg_acquire(&x->done, &old, old - 1));
  return true;
}
static inline void wait_for_completion(struct completion *x) {
  while (!try_wait_for_completion(x))
    cpu_relax();
}
