// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int count;

static void *run(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  ++count;
  pthread_mutex_unlock(&mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  assert(pthread_mutexattr_settype(&attributes, 7) == EINVAL);
  assert(!pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE));
  assert(!pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
  assert(!pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
  assert(!pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED));
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  pthread_join(thread, 0);
  assert(count == 2);
}
