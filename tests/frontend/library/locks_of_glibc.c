// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <langinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

_Static_assert(__WORDSIZE == 64 && _NL_ADDRESS_LANG_AB != _NL_ADDRESS_COUNTRY_AB2, "");

static pthread_mutex_t adaptive;
#if defined PTHREAD_MUTEX_RECURSIVE_NP || defined PTHREAD_RWLOCK_PREFER_READER_NP
#error glibc has constants
#endif

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP, other;
static sem_t semaphore;
static int count, ready;

static void *added(void *unused) {
  pthread_mutex_lock(&adaptive);
  count++;
  pthread_mutex_unlock(&adaptive);
  pthread_rwlock_wrlock(&lock);
  ready++;
  pthread_rwlock_unlock(&lock);
  return unused;
}

int main(void) {
  struct timespec late = {1};
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&adaptive, &mutex);
  pthread_rwlockattr_t kind;
  pthread_rwlockattr_init(&kind);
  pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&other, &kind);
  assert(pthread_rwlock_clockwrlock(&other, CLOCK_MONOTONIC, &late) == 0);
  assert(pthread_rwlock_clockrdlock(&other, CLOCK_MONOTONIC, &late) == ETIMEDOUT);
  sem_init(&semaphore, 0, 0);
  assert(TEMP_FAILURE_RETRY(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &late)) == -1 && errno == ETIMEDOUT);
  pthread_t thread;
  pthread_create(&thread, 0, added, 0);
  added(0);
  pthread_yield();
  pthread_join(thread, 0);
  assert(count == 2 && ready == 2);
  assert(pthread_mutex_clocklock(&adaptive, CLOCK_MONOTONIC, &late) == 0);
}
