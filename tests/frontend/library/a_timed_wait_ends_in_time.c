// Safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signaller(void *p) {
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, signaller, 0);
  struct timespec end = {1, 0};
  int error = 0;
  pthread_mutex_lock(&mutex);
  while (!ready && error == 0)
    error = pthread_cond_timedwait(&condition, &mutex, &end);
  assert(ready || error == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, 0);
  return 0;
}
