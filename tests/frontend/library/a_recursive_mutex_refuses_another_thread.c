// Safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int count;

static void *run(void *unused) {
  assert(pthread_mutex_unlock(&mutex) == EPERM);
  assert(!pthread_mutex_lock(&mutex) && !pthread_mutex_lock(&mutex));
  ++count;
  assert(!pthread_mutex_unlock(&mutex) && !pthread_mutex_unlock(&mutex));
  assert(pthread_mutex_unlock(&mutex) == EPERM);
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, 0, run, 0);
  ++count;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  assert(count == 2);
}
