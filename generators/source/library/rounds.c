// Threads that do twice what they do, for programs that are compiled with these names in place of
// pthread_create and thrd_create.
#include "weakspot.h"
#include <pthread.h>
#include <threads.h>

struct start {
  void *(*run)(void *);
  int (*run_c11)(void *);
  void *argument;
};

static struct start *start_of(void *(*run)(void *), int (*run_c11)(void *), void *argument) {
  struct start *start = weakspot_allocate(_Alignof(struct start), sizeof *start, 0);
  *start = (struct start){run, run_c11, argument};
  return start;
}

static void *twice(void *given) {
  struct start *start = given;
  start->run(start->argument);
  return start->run(start->argument);
}

static int twice_c11(void *given) {
  struct start *start = given;
  start->run_c11(start->argument);
  return start->run_c11(start->argument);
}

WEAKSPOT_LIBRARY int weakspot_pthread_create_twice(pthread_t *thread, const pthread_attr_t *how,
                                                   void *(*run)(void *), void *argument) {
  return pthread_create(thread, how, twice, start_of(run, 0, argument));
}

WEAKSPOT_LIBRARY int weakspot_thrd_create_twice(thrd_t *thread, thrd_start_t run, void *argument) {
  return thrd_create(thread, twice_c11, start_of(0, run, argument));
}
