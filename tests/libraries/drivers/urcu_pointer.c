// A pointer that is published by rcu_assign_pointer: its reader sees what it points to.
#define _LGPL_SOURCE
#include <assert.h>
#include <pthread.h>
#include <urcu-pointer.h>

static int letter, *box;

static void *writer(void *p) {
  letter = 1;
  rcu_assign_pointer(box, &letter);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  int *found = rcu_dereference(box);
  if (found)
    assert(*found == 1);
  pthread_join(t, 0);
  return 0;
}
