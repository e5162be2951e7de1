// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { SIZE = 1 << 29 };
static char *mapped;
static void *use(void *p) {
  mapped[SIZE - 1] = 1;
  return p;
}
int main(void) {
  pthread_t thread;
  mapped = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *allocated = malloc(SIZE);
  allocated[0] = 2;
  pthread_create(&thread, 0, use, 0);
  assert(mapped[0] == 0 && mapped[SIZE / 2] == 0 && allocated[0] == 2);
  pthread_join(thread, 0);
  assert(mapped[SIZE - 1] == 1);
  free(allocated);
  munmap(mapped, SIZE);
}
