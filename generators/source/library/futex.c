// Futexes: threads that wait at an address, in the order in which they came. A wait compares the word
// and begins to wait in one step, totally ordered with wakes (futex(2)). A thread that waits returns
// when it is woken, not before, and not in the order of its priority.
#include "weakspot.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

struct waiter {
  uint32_t *word;
  struct waiter *next;
  int woken;
};

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static struct waiter *first;

static long failed(int error) {
  errno = error;
  return -1;
}

static void leave(struct waiter *mine) {
  for (struct waiter **at = &first; *at; at = &(*at)->next)
    if (*at == mine) {
      *at = mine->next;
      return;
    }
}

static long wait(uint32_t *word, uint32_t expected, const void *time) {
  struct waiter mine = {word, 0, 0};
  pthread_mutex_lock(&queue);
  if (__atomic_load_n(word, __ATOMIC_RELAXED) != expected) {
    pthread_mutex_unlock(&queue);
    return failed(EAGAIN);
  }
  struct waiter **last = &first;
  while (*last)
    last = &(*last)->next;
  *last = &mine;
  pthread_mutex_unlock(&queue);
  // the time has expired, unless the thread was woken: to wait for that is to come here later
  if (time) {
    pthread_mutex_lock(&queue);
    leave(&mine);
    int woken = mine.woken;
    pthread_mutex_unlock(&queue);
    return woken ? 0 : failed(ETIMEDOUT);
  }
  while (!__atomic_load_n(&mine.woken, __ATOMIC_ACQUIRE)) {
  }
  return 0;
}

static long wake(uint32_t *word, int count) {
  long woken = 0;
  pthread_mutex_lock(&queue);
  for (struct waiter **at = &first; *at && woken < count;) {
    struct waiter *found = *at;
    if (found->word != word) {
      at = &found->next;
      continue;
    }
    *at = found->next;
    __atomic_store_n(&found->woken, 1, __ATOMIC_RELEASE);
    woken++;
  }
  pthread_mutex_unlock(&queue);
  return woken;
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
    return wake((uint32_t *)word, (int)value);
  }
  weakspot_unsupported("this operation of futex is not modelled");
}
