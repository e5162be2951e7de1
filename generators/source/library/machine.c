// What a program asks of the machine and the system: two processors, of which any may run a thread at
// any time, pages of 4096 bytes, lines of 64, and an environment without variables.
#define _GNU_SOURCE
#include "weakspot.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PROCESSORS = 2, PAGE = 4096, LINE = 64, PHYSICAL_PAGES = 1 << 20 };

WEAKSPOT_LIBRARY long sysconf(int name) {
  switch (name) {
  case _SC_NPROCESSORS_CONF:
  case _SC_NPROCESSORS_ONLN:
    return PROCESSORS;
  case _SC_PAGESIZE:
    return PAGE;
  case _SC_CLK_TCK:
    return 100;
  case _SC_PHYS_PAGES:
  case _SC_AVPHYS_PAGES:
    return PHYSICAL_PAGES;
  case _SC_LEVEL1_DCACHE_LINESIZE:
    return LINE;
  }
  weakspot_unsupported("this name of sysconf is not modelled");
}

WEAKSPOT_LIBRARY int getpagesize(void) { return PAGE; }

WEAKSPOT_LIBRARY int getrlimit(int resource, struct rlimit *limits) {
  *limits = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
  return 0;
}

WEAKSPOT_LIBRARY int sched_getcpu(void) { return (int)weakspot_choose(PROCESSORS); }

WEAKSPOT_LIBRARY int getcpu(unsigned *processor, unsigned *node) {
  if (processor)
    *processor = weakspot_choose(PROCESSORS);
  if (node)
    *node = 0;
  return 0;
}

// syscall(SYS_getcpu, …)
WEAKSPOT_LIBRARY long weakspot_getcpu(long processor, long node, long cache) {
  return getcpu((unsigned *)processor, (unsigned *)node);
}

WEAKSPOT_LIBRARY int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) {
  memset(set, 0, size);
  for (int each = 0; each < PROCESSORS; each++)
    CPU_SET_S(each, size, set);
  return 0;
}

WEAKSPOT_LIBRARY int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
  return sched_getaffinity(0, size, set);
}

// syscall(SYS_sched_setaffinity, …)
WEAKSPOT_LIBRARY long weakspot_setaffinity(long process, long size, long set) { return 0; }

// syscall(SYS_rseq, …): a kernel without restartable sequences.
WEAKSPOT_LIBRARY long weakspot_rseq(long area, long size, long flags, long signature) {
  errno = ENOSYS;
  return -1;
}

// CPU_COUNT
WEAKSPOT_LIBRARY int __sched_cpucount(size_t size, const cpu_set_t *set) {
  int count = 0;
  for (int each = 0; each < PROCESSORS; each++)
    count += !!CPU_ISSET_S(each, size, set);
  return count;
}

WEAKSPOT_LIBRARY char *getenv(const char *name) { return 0; }

WEAKSPOT_LIBRARY char *secure_getenv(const char *name) { return 0; }

WEAKSPOT_LIBRARY unsigned long getauxval(unsigned long type) {
  if (type == AT_PAGESZ)
    return PAGE;
  errno = ENOENT;
  return 0;
}

// An address that is the thread's own.
WEAKSPOT_LIBRARY void *weakspot_thread_pointer(void) {
  static _Thread_local char own;
  return &own;
}
