// Safe under tso, rc11
// A lock whose loop is in the assembly, in the form of DPDK's; what it jumps over, compares and tests is
// the same on the machine, where this program is run too.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static volatile int lock;
static int counter;

static void acquire(volatile int *at) {
  int value = 1;
  __asm__ __volatile__("1:\n"
                       "xchg %[locked], %[lv]\n"
                       "test %[lv], %[lv]\n"
                       "jz 3f\n"
                       "2:\n"
                       "pause\n"
                       "cmpl $0, %[locked]\n"
                       "jnz 2b\n"
                       "jmp 1b\n"
                       "3:\n"
                       : [locked] "=m"(*at), [lv] "=q"(value)
                       : "[lv]"(value)
                       : "memory");
}

static void release(volatile int *at) {
  int value = 0;
  __asm__ __volatile__("xchg %[locked], %[ulv]\n"
                       : [locked] "=m"(*at), [ulv] "=q"(value)
                       : "[ulv]"(value)
                       : "memory");
}

static int is_below(uint32_t one, uint32_t other) {
  int below = 0;
  __asm__("cmpl %2, %1; jae .Lnot%=; movl $1, %0; .Lnot%=:" : "+r"(below) : "r"(one), "r"(other) : "cc");
  return below;
}

static void *run(void *unused) {
  acquire(&lock);
  counter++;
  release(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  pthread_join(thread, 0);
  assert(counter == 2);
  assert(is_below(1, 2) && !is_below(2, 2) && !is_below(3, 2) && is_below(0, -1u));
}
