// Violated: assertion under sc, rc20
// A breakpoint, with which assertions of some libraries end the program; capital letters mean the same.
#include <pthread.h>
#include <stdatomic.h>
#define CHECK(condition) do { if (!(condition)) __asm__ volatile("INT $0x3"); } while (0)

static atomic_int x;

static void *set(void *unused) {
  atomic_store(&x, 1);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, set, 0);
  CHECK(atomic_load(&x) == 0);
  pthread_join(thread, 0);
  return 0;
}
