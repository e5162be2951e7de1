// Violated: lock (destruction of a destroyed semaphore)
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static int x;
static void *one(void *p) {
  sem_post(&s);
  return 0;
}

static void *other(void *p) {
  sem_wait(&s);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  sem_init(&s, 0, 0);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  sem_destroy(&s);
  sem_destroy(&s);
  return 0;
}
