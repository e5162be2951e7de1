// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t made;
static pthread_mutex_t constant = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int counts[2];

static void not_the_owner(pthread_mutex_t *mutex) {
  struct timespec late = {0};
  assert(pthread_mutex_unlock(mutex) == EPERM);
  assert(pthread_cond_wait(&condition, mutex) == EPERM);
  assert(pthread_cond_timedwait(&condition, mutex, &late) == EPERM);
}

static void owner(pthread_mutex_t *mutex, int *count) {
  struct timespec late = {0};
  assert(!pthread_mutex_lock(mutex));
  assert(pthread_mutex_lock(mutex) == EDEADLK);
  assert(pthread_mutex_trylock(mutex) == EBUSY);
  assert(pthread_mutex_timedlock(mutex, &late) == EDEADLK);
  ++*count;
  assert(!pthread_mutex_unlock(mutex));
}

static void *run(void *unused) {
  not_the_owner(&made);
  not_the_owner(&constant);
  owner(&made, &counts[0]);
  owner(&constant, &counts[1]);
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  assert(!pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK));
  pthread_mutex_init(&made, &attributes);
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  owner(&made, &counts[0]);
  owner(&constant, &counts[1]);
  pthread_mutex_lock(&recursive);
  assert(!pthread_mutex_lock(&recursive));
  assert(!pthread_mutex_lock(&adaptive) && pthread_mutex_trylock(&adaptive) == EBUSY);
  pthread_join(thread, 0);
  assert(counts[0] == 2 && counts[1] == 2);
  assert(!pthread_mutex_destroy(&made));
}
