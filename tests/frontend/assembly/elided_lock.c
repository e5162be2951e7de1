// Safe under tso
// The hints of Intel's lock elision, which a processor without elision ignores, written as bytes and
// as prefixes; and an operand that is a cast, which gcc accepts.
#include <assert.h>
#include <pthread.h>

static unsigned lock, tickets, x;

static unsigned taken(unsigned *at, unsigned value) {
  __asm__ __volatile__(".byte 0xf2 ; xchgl %0, %1" : "=r"((unsigned)value) : "m"(*at), "0"((unsigned)value) : "memory");
  return value;
}

static void *run(void *p) {
  unsigned ticket = 1;
  while (taken(&lock, 1)) {
  }
  __asm__ __volatile__("xacquire; lock; xaddl %0, %1" : "+r"(ticket), "+m"(tickets) : : "memory");
  assert(ticket == x);
  x++;
  __asm__ __volatile__("xrelease movl %1, %0" : "=m"(lock) : "r"(0) : "memory");
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x == 2 && tickets == 2);
  return 0;
}
