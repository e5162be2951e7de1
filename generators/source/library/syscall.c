// System calls whose number is not written where they are made, as in a wrapper of syscall(2).
#include "weakspot.h"
#include <sys/syscall.h>

long weakspot_futex(long word, long operation, long value, long time, long other, long mask);
long weakspot_gettid(void);
long weakspot_yield(void);
long weakspot_getpid(void);

WEAKSPOT_LIBRARY long weakspot_syscall(long number, long a, long b, long c, long d, long e, long f) {
  switch (number) {
  case SYS_futex:
    return weakspot_futex(a, b, c, d, e, f);
  case SYS_gettid:
    return weakspot_gettid();
  case SYS_sched_yield:
    return weakspot_yield();
  case SYS_getpid:
    return weakspot_getpid();
  }
  weakspot_unsupported("this system call is not modelled");
}
