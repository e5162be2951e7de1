// Bits of the Linux kernel (linux/bitops.h, linux/bit_spinlock.h): part of weakspot/kernel.h. An operation is
// that of atomic_long_t on the word of the bit, as the kernel's own asm-generic/bitops has it.
#pragma once
#pragma GCC system_header

#ifndef BITS_PER_LONG
#define BITS_PER_LONG 64
#endif
#define BIT(nr) (1UL << (nr))
#define BIT_MASK(nr) (1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr) ((nr) / BITS_PER_LONG)
#define BITS_TO_LONGS(bits) (((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

#define WEAKSPOT_WORD(nr, bits) ((atomic_long_t *)((unsigned long *)(bits) + BIT_WORD(nr)))

static inline bool test_bit(long nr, const volatile unsigned long *bits) {
  return READ_ONCE(bits[BIT_WORD(nr)]) >> (nr % BITS_PER_LONG) & 1;
}
static inline bool test_bit_acquire(long nr, const volatile unsigned long *bits) {
  return smp_load_acquire(&bits[BIT_WORD(nr)]) >> (nr % BITS_PER_LONG) & 1;
}
static inline void set_bit(long nr, volatile unsigned long *bits) {
  atomic_long_or(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits));
}
static inline void clear_bit(long nr, volatile unsigned long *bits) {
  atomic_long_andnot(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits));
}
static inline void change_bit(long nr, volatile unsigned long *bits) {
  atomic_long_xor(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits));
}
static inline void clear_bit_unlock(long nr, volatile unsigned long *bits) {
  (void)atomic_long_fetch_andnot_release(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits));
}
static inline bool test_and_set_bit(long nr, volatile unsigned long *bits) {
  return atomic_long_fetch_or(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits)) & BIT_MASK(nr);
}
static inline bool test_and_clear_bit(long nr, volatile unsigned long *bits) {
  return atomic_long_fetch_andnot(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits)) & BIT_MASK(nr);
}
static inline bool test_and_change_bit(long nr, volatile unsigned long *bits) {
  return atomic_long_fetch_xor(BIT_MASK(nr), WEAKSPOT_WORD(nr, bits)) & BIT_MASK(nr);
}
// As the kernel's, it looks at the bit first. It also leaves out the write that would change nothing: what
// reads from that write could read from the one before.
static inline bool test_and_set_bit_lock(long nr, volatile unsigned long *bits) {
  long old = atomic_long_read(WEAKSPOT_WORD(nr, bits));
  do {
    if (old & BIT_MASK(nr))
      return true;
  } while (!atomic_long_try_cmpxchg_acquire(WEAKSPOT_WORD(nr, bits), &old, old | BIT_MASK(nr)));
  return false;
}

static inline void __set_bit(long nr, volatile unsigned long *bits) {
  ((unsigned long *)bits)[BIT_WORD(nr)] |= BIT_MASK(nr);
}
static inline void __clear_bit(long nr, volatile unsigned long *bits) {
  ((unsigned long *)bits)[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}
static inline bool __test_and_set_bit(long nr, volatile unsigned long *bits) {
  const bool old = ((unsigned long *)bits)[BIT_WORD(nr)] >> (nr % BITS_PER_LONG) & 1;
  __set_bit(nr, bits);
  return old;
}
static inline bool __test_and_clear_bit(long nr, volatile unsigned long *bits) {
  const bool old = ((unsigned long *)bits)[BIT_WORD(nr)] >> (nr % BITS_PER_LONG) & 1;
  __clear_bit(nr, bits);
  return old;
}
static inline void __clear_bit_unlock(long nr, volatile unsigned long *bits) {
  clear_bit_unlock(nr, bits);
}

// Bit locks
static inline void bit_spin_lock(int nr, unsigned long *bits) {
  while (test_and_set_bit_lock(nr, bits))
    cpu_relax();
}
static inline bool bit_spin_trylock(int nr, unsigned long *bits) {
  return !test_and_set_bit_lock(nr, bits);
}
static inline void bit_spin_unlock(int nr, unsigned long *bits) { clear_bit_unlock(nr, bits); }
static inline bool bit_spin_is_locked(int nr, unsigned long *bits) { return test_bit(nr, bits); }
