// Safe under tso
// On x86 an ordinary store releases: under a model of the language it would not.
#include <assert.h>
#include <pthread.h>

static int lock, x;

static void *run(void *p) {
  int taken;
  do {
    taken = 1;
    __asm__ __volatile__("rep; nop");
    __asm__ __volatile__("xchgl %0, %1" : "+r"(taken), "+m"(lock) : : "memory");
  } while (taken);
  x++;
  __asm__ __volatile__("movl %1, %0" : "=m"(lock) : "r"(0) : "memory");
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x == 2);
  return 0;
}
