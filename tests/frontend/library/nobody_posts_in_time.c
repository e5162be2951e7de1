// Safe
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <time.h>

int main(void) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  struct timespec end = {1, 0};
  assert(sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT);
  return 0;
}
