// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  cpu_set_t set;
  unsigned processor;
  assert(sched_getaffinity(0, sizeof set, &set) == 0);
  assert(CPU_COUNT(&set) == sysconf(_SC_NPROCESSORS_ONLN));
  assert(CPU_ISSET(sched_getcpu(), &set));
  assert(syscall(SYS_getcpu, &processor, 0, 0) == 0 && CPU_ISSET(processor, &set));
  assert(sysconf(_SC_PAGESIZE) == getpagesize());
  assert(!getenv("HOME"));
}
