// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

int main(void) {
  int *made = mmap(0, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(made != MAP_FAILED && (uintptr_t)made % 4096 == 0 && made[1023] == 0);
  made[3] = 1;
  madvise(made, 4096, MADV_WILLNEED);
  assert(made[3] == 1);
  madvise(made, 4096, MADV_DONTNEED);
  assert(made[3] == 0);
}
