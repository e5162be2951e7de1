// Safe
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static int x;
static sem_t s, free_;
static void *one(void *p) {
  struct timespec t = {0};
  if (sem_timedwait(&s, &t) == 0) assert(x == 1);
  else assert(errno == ETIMEDOUT);
  return 0;
}

static void *other(void *p) {
  x = 1;
  sem_post(&s);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  sem_init(&s, 0, 0);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  return 0;
}
