// Clocks. At each look at a clock, an hour has gone by since the thread last looked or, once at each
// place, no time, and both are explored. The clocks of two threads are not compared.
#include "weakspot.h"
#include <sys/time.h>
#include <time.h>

static _Thread_local long seconds;

static void look(void) {
  // without a branch, so that a loop that ends by the clock is not taken for one that counts
  seconds += 3600 * (1 - (long)weakspot_stands_still());
}

WEAKSPOT_LIBRARY int clock_gettime(clockid_t clock, struct timespec *now) {
  look();
  now->tv_sec = seconds;
  now->tv_nsec = 0;
  return 0;
}

WEAKSPOT_LIBRARY int clock_getres(clockid_t clock, struct timespec *resolution) {
  if (resolution) {
    resolution->tv_sec = 0;
    resolution->tv_nsec = 1;
  }
  return 0;
}

WEAKSPOT_LIBRARY int timespec_get(struct timespec *now, int base) {
  clock_gettime(CLOCK_REALTIME, now);
  return base;
}

WEAKSPOT_LIBRARY int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  look();
  now->tv_sec = seconds;
  now->tv_usec = 0;
  return 0;
}

WEAKSPOT_LIBRARY time_t time(time_t *out) {
  look();
  if (out)
    *out = seconds;
  return seconds;
}

WEAKSPOT_LIBRARY double difftime(time_t end, time_t begin) { return (double)(end - begin); }

// The time stamp counter.
WEAKSPOT_LIBRARY unsigned long weakspot_cycles(void) {
  look();
  return seconds * 1000000000ul;
}

// The same, and the number of a processor, as RDTSCP has it.
struct cycles {
  unsigned long cycles;
  unsigned processor;
};
WEAKSPOT_LIBRARY struct cycles weakspot_cycles_of(void) {
  return (struct cycles){weakspot_cycles(), 0};
}

WEAKSPOT_LIBRARY clock_t clock(void) {
  look();
  return seconds * CLOCKS_PER_SEC;
}
