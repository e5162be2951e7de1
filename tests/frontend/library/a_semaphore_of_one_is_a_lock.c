// Safe
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static int x;
static sem_t s, free_;
static void *one(void *p) {
  sem_wait(&s);
  x++;
  sem_post(&s);
  return 0;
}

static void *other(void *p) {
  sem_wait(&s);
  x++;
  sem_post(&s);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  sem_init(&s, 0, 1);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  assert(x == 2);
  sem_destroy(&s);
  return 0;
}
