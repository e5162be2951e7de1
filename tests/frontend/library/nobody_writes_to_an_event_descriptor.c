// Violated: hang
#include <pthread.h>
#include <sys/eventfd.h>

static int counter;

static void *wait(void *unused) {
  eventfd_t value;
  eventfd_read(counter, &value);
  return unused;
}

int main(void) {
  pthread_t one, other;
  counter = eventfd(1, 0);
  pthread_create(&one, 0, wait, 0);
  pthread_create(&other, 0, wait, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}
