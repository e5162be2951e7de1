/* A fixed piece of work, timed, and what the processors did since the machine started:

     work NANOSECONDS               the fastest of some tries: what the clock gives undisturbed
     stat USER NICE SYSTEM …        /proc/stat, where there is one

   The work is a chain of multiplications, each of which needs the one before: it takes the same
   number of cycles each time, whatever is in the caches. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 100000, TRIES = 8 };

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(void) {
  cpu_set_t may, first; /* always the same processor: others may be of another kind */
  CPU_ZERO(&first);
  if (sched_getaffinity(0, sizeof may, &may) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; cpu++)
      if (CPU_ISSET(cpu, &may)) CPU_SET(cpu, &first);
  sched_setaffinity(0, sizeof first, &first);
  int64_t best = INT64_MAX;
  for (int try = 0; try < TRIES; try++) {
    const int64_t begin = nanoseconds();
    uint64_t value = 1;
    for (int i = 0; i < ROUNDS; i++) {
      value = value * 6364136223846793005u + 1442695040888963407u;
      __asm__ volatile("" : "+r"(value));
    }
    const int64_t spent = nanoseconds() - begin;
    if (spent < best) best = spent;
  }
  printf("work %lld\n", (long long)best);
  char line[512] = "";
  FILE *stat = fopen("/proc/stat", "r");
  if (stat != NULL && fgets(line, sizeof line, stat) != NULL && !strncmp(line, "cpu ", 4))
    printf("stat %s", line + 4);
  return 0;
}
