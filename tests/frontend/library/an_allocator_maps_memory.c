// Safe
// A program that defines the functions of <stdlib.h> by mmap.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
static char *arena;
static size_t used;
void *malloc(size_t size) {
  if (!arena)
    arena = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  used += (size + 15) / 16 * 16;
  return arena + used - size;
}
void *aligned_alloc(size_t alignment, size_t size) { return malloc(size); }
void free(void *object) {}
static void *use(void *p) {
  free(p);
  return p;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, use, malloc(16));
  assert(aligned_alloc(16, 16) == arena + 16);
  pthread_join(thread, 0);
  munmap(arena, 4096);
}
