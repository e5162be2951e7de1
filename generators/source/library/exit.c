// Functions that run when the process ends (C11, 7.22.4): those given to atexit, and the destructors
// of static objects, in the reverse order of their registration; those given to at_quick_exit.
#include "weakspot.h"
#include <pthread.h>
#include <stdlib.h>

#define MOST 256

static struct handlers {
  pthread_mutex_t mutex;
  unsigned count;
  struct handler {
    void (*run)(void *);
    void *argument;
  } all[MOST];
} normal, quick;

static int add(struct handlers *to, void (*run)(void *), void *argument) {
  pthread_mutex_lock(&to->mutex);
  if (to->count == MOST)
    weakspot_unsupported("more than 256 functions that run when the process ends");
  to->all[to->count++] = (struct handler){run, argument};
  pthread_mutex_unlock(&to->mutex);
  return 0;
}

static int take(struct handlers *from, struct handler *last) {
  pthread_mutex_lock(&from->mutex);
  int found = from->count > 0;
  if (found)
    *last = from->all[--from->count];
  pthread_mutex_unlock(&from->mutex);
  return found;
}

static void run(struct handlers *handlers) {
  for (struct handler last; take(handlers, &last);)
    last.run(last.argument);
}

WEAKSPOT_LIBRARY int atexit(void (*function)(void)) {
  return add(&normal, (void (*)(void *))function, 0);
}
WEAKSPOT_LIBRARY int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
  return add(&normal, function, argument);
}
__attribute__((used)) void weakspot_process_exit(void) { run(&normal); }

WEAKSPOT_LIBRARY int at_quick_exit(void (*function)(void)) {
  return add(&quick, (void (*)(void *))function, 0);
}
WEAKSPOT_LIBRARY _Noreturn void quick_exit(int status) {
  run(&quick);
  _Exit(status);
}
