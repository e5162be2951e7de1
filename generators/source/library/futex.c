// Futexes. A wait compares the word and begins to wait in one step, totally ordered with wakes
// (futex(2)), which order nothing else. A wake may wake any of the threads that wait, and a wait may
// return for no reason ("a wake-up can also be caused by common futex usage patterns in unrelated
// code").
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

static long wait(uint32_t *word, uint32_t expected, const void *time) {
  if (value_of(word) != expected)
    return failed(EAGAIN);
  if (weakspot_seldom())
    return 0;
  if (!weakspot_begin_sleep(word))
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

// syscall(SYS_futex, …), with its arguments widened.
WEAKSPOT_LIBRARY long weakspot_futex(long word, long operation, long value, long time, long other,
                                     long mask) {
  (void)other;
  // with a mask of all bits these are the others (futex(2)); that the time is absolute changes
  // nothing, because it may expire at once
  int any = (uint32_t)mask == FUTEX_BITSET_MATCH_ANY;
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT_BITSET:
    if (!any)
      break;
  case FUTEX_WAIT:
    return wait((uint32_t *)word, (uint32_t)value, (const void *)time);
  case FUTEX_WAKE_BITSET:
    if (!any)
      break;
  case FUTEX_WAKE:
    return (long)weakspot_wake((uint32_t *)word, (unsigned)value);
  }
  weakspot_unsupported("this operation of futex is not modelled");
}
