// Safe under tso, rc11
// A pair of words is compared and exchanged, and read, in the forms that Concurrency Kit gives this.
// The same program is run on the machine.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static uint64_t pair[2] __attribute__((aligned(16)));

static _Bool exchanged(uint64_t *at, uint64_t *old, uint64_t *new) {
  _Bool done;
  __asm__ __volatile__("movq 0(%4), %%rax;"
                       "movq 8(%4), %%rdx;"
                       "lock; cmpxchg16b %0; setz %1"
                       : "+m"(*at), "=q"(done)
                       : "b"(new[0]), "c"(new[1]), "q"(old)
                       : "memory", "cc", "%rax", "%rdx");
  return done;
}

static _Bool exchanged_value(uint64_t *at, uint64_t *old, uint64_t *new, uint64_t *before) {
  _Bool done;
  __asm__ __volatile__("lock; cmpxchg16b %0;"
                       "setz %3"
                       : "+m"(*at), "=a"(before[0]), "=d"(before[1]), "=q"(done)
                       : "a"(old[0]), "d"(old[1]), "b"(new[0]), "c"(new[1])
                       : "memory", "cc");
  return done;
}

static void load(const uint64_t *at, uint64_t *value) {
  __asm__ __volatile__("movq %%rdx, %%rcx;"
                       "movq %%rax, %%rbx;"
                       "lock; cmpxchg16b %2;"
                       : "=a"(value[0]), "=d"(value[1])
                       : "m"(*at)
                       : "rbx", "rcx", "memory", "cc");
}

static void *raise(void *p) {
  uint64_t old[2] = {0, 0}, new[2];
  do {
    new[0] = old[0] + 1;
    new[1] = old[1] - 1;
  } while (!exchanged_value(pair, old, new, old));
  return p;
}

static void *read(void *p) {
  uint64_t seen[2];
  load(pair, seen);
  assert(seen[0] + seen[1] == 0);
  return p;
}

int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, 0, raise, 0);
  pthread_create(&b, 0, raise, 0);
  pthread_create(&c, 0, read, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  uint64_t old[2] = {2, -2}, new[2] = {7, 8}, seen[2];
  assert(exchanged(pair, old, new));
  assert(!exchanged(pair, old, new));
  load(pair, seen);
  assert(seen[0] == 7 && seen[1] == 8);
  return 0;
}
