// Futexes. A wait compares the word and begins to wait in one step, totally ordered with wakes
// (futex(2)). A wait has a full barrier before it compares, and FUTEX_WAKE before it looks for
// threads that wait ("Basic futex operation and ordering guarantees", kernel/futex/waitwake.c of
// Linux). A wake may wake any of these threads, and a wait may return for no reason ("a wake-up can
// also be caused by common futex usage patterns in unrelated code").
#include "weakspot.h"
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>

static long failed(int error) {
  errno = error;
  return -1;
}

static uint32_t value_of(uint32_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static long wait(uint32_t *word, uint32_t expected, const void *time, uint32_t mask) {
  if (!mask)
    return failed(EINVAL);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (value_of(word) != expected)
    return failed(EAGAIN);
  if (weakspot_seldom())
    return 0;
  if (!weakspot_begin_sleep(word, mask))
    return time ? failed(ETIMEDOUT) : 0;
  // the comparison above could have read this
  if (value_of(word) != expected)
    weakspot_discard();
  // the time has expired, unless the thread was woken: to wait for that is to come here later
  if (time)
    return weakspot_end_sleep(word) ? failed(ETIMEDOUT) : 0;
  weakspot_sleep(word, 0);
  return 0;
}

static long wake(uint32_t *word, unsigned count, uint32_t mask) {
  if (!mask)
    return failed(EINVAL);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return (long)weakspot_wake(word, count, mask);
}

static int compared(uint32_t how, int value, int with) {
  switch (how) {
  case FUTEX_OP_CMP_EQ:
    return value == with;
  case FUTEX_OP_CMP_NE:
    return value != with;
  case FUTEX_OP_CMP_LT:
    return value < with;
  case FUTEX_OP_CMP_LE:
    return value <= with;
  case FUTEX_OP_CMP_GT:
    return value > with;
  case FUTEX_OP_CMP_GE:
    return value >= with;
  }
  weakspot_unsupported("this comparison of FUTEX_WAKE_OP is not modelled");
}

// Changes the second word, wakes at the first, and, if what was in the second compares, there too.
// The change is atomic, and orders nothing.
static long wake_op(uint32_t *word, unsigned count, unsigned others, uint32_t *second, uint32_t what) {
  uint32_t operand = (uint32_t)((int32_t)(what << 8) >> 20), was;
  if (what >> 28 & FUTEX_OP_OPARG_SHIFT)
    operand = 1u << (operand & 31);
  switch (what >> 28 & 7) {
  case FUTEX_OP_SET:
    was = __atomic_exchange_n(second, operand, __ATOMIC_RELAXED);
    break;
  case FUTEX_OP_ADD:
    was = __atomic_fetch_add(second, operand, __ATOMIC_RELAXED);
    break;
  case FUTEX_OP_OR:
    was = __atomic_fetch_or(second, operand, __ATOMIC_RELAXED);
    break;
  case FUTEX_OP_ANDN:
    was = __atomic_fetch_and(second, ~operand, __ATOMIC_RELAXED);
    break;
  case FUTEX_OP_XOR:
    was = __atomic_fetch_xor(second, operand, __ATOMIC_RELAXED);
    break;
  default:
    weakspot_unsupported("this operation of FUTEX_WAKE_OP is not modelled");
  }
  long woken = (long)weakspot_wake(word, count, FUTEX_BITSET_MATCH_ANY);
  if (compared(what >> 24 & 15, (int)was, (int32_t)(what << 20) >> 20))
    woken += (long)weakspot_wake(second, others, FUTEX_BITSET_MATCH_ANY);
  return woken;
}

// Where the word is compared, it is while no thread begins to wait.
static long requeue(uint32_t *word, unsigned wakes, unsigned moves, uint32_t *other,
                    const uint32_t *expected) {
  unsigned long sleepers = weakspot_sleepers(word);
  if (expected && value_of(word) != *expected)
    return failed(EAGAIN);
  if (word == other)
    return failed(EINVAL);
  return (long)weakspot_requeue(word, wakes, moves, other, sleepers);
}

// syscall(SYS_futex, …), with its arguments widened.
WEAKSPOT_LIBRARY long weakspot_futex(long word, long operation, long value, long time, long other,
                                     long mask) {
  // that the time of a wait with a mask is absolute changes nothing, because it may expire at once
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
    mask = FUTEX_BITSET_MATCH_ANY;
  case FUTEX_WAIT_BITSET:
    return wait((uint32_t *)word, (uint32_t)value, (const void *)time, (uint32_t)mask);
  case FUTEX_WAKE:
    mask = FUTEX_BITSET_MATCH_ANY;
  case FUTEX_WAKE_BITSET:
    return wake((uint32_t *)word, (unsigned)value, (uint32_t)mask);
  case FUTEX_WAKE_OP:
    return wake_op((uint32_t *)word, (unsigned)value, (unsigned)time, (uint32_t *)other,
                   (uint32_t)mask);
  case FUTEX_REQUEUE:
    return requeue((uint32_t *)word, (unsigned)value, (unsigned)time, (uint32_t *)other, 0);
  case FUTEX_CMP_REQUEUE: {
    uint32_t expected = (uint32_t)mask;
    return requeue((uint32_t *)word, (unsigned)value, (unsigned)time, (uint32_t *)other, &expected);
  }
  }
  weakspot_unsupported("this operation of futex is not modelled");
}
