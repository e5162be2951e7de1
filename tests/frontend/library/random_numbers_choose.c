// Safe
// Each remainder, and each value of the lowest bits, is explored.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef CHECK
#define CHECK assert(__builtin_popcount(reached) == 3)
#endif
static unsigned reached;
static void *choose(void *p) {
  unsigned seed = 1;
  struct drand48_data state;
  long number;
  size_t size = 3;
  reached |= 1u << (rand() % 2);
  reached |= 4u << (rand_r(&seed) % size);
  srand48_r(7, &state);
  lrand48_r(&state, &number);
  reached |= 32u << (number & 1);
  for (int k = (int)random() % 1000; k > 0; k--)
    __asm__ volatile("pause");
  usleep((useconds_t)rand());
  return p;
}
int main(void) {
  pthread_t thread;
  srand(1);
  alarm(5);
  pthread_create(&thread, 0, choose, 0);
  pthread_join(thread, 0);
  CHECK;
}
