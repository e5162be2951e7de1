// Violated: memory (use not ordered with a free)
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
  _Atomic(int *) place;
} shared;

static void *use(void *unused) {
  int *place = atomic_load(&shared.place);
  if (place) *place = 1;
  return unused;
}

int main(void) {
  size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
  void *made = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(mprotect(made, size, PROT_READ | PROT_WRITE) == 0 && mlock(made, size) == 0);
  atomic_store(&shared.place, (int *)made + 1);
  pthread_t other;
  pthread_create(&other, 0, use, 0);
  munmap(made, size - 1);
  pthread_join(other, 0);
}
