// Safe under tso, rc11
// What single instructions compute. The same program is run on the machine.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static uint32_t word = 40;
static uint64_t wide[2];
static uint8_t byte;
static void *pointer = &word;

static uint32_t fetch_add(uint32_t *at, uint32_t value) {
  __asm__ __volatile__("lock; xaddl %0, %1" : "+r"(value), "+m"(*at) : : "memory", "cc");
  return value;
}

static uint32_t swap(uint32_t *at, uint32_t value) {
  __asm__ __volatile__("xchgl %0, %1" : "=r"(value), "+m"(*at) : "0"(value) : "memory");
  return value;
}

static int exchanged(uint32_t *at, uint32_t old, uint32_t new) {
  char done;
  __asm__ __volatile__("lock cmpxchgl %3, %0; sete %1" : "+m"(*at), "=a"(done) : "a"(old), "q"(new) : "memory", "cc");
  return done;
}

static _Bool exchanged_by_flag(uint32_t *at, uint32_t *old, uint32_t new) {
  _Bool done;
  __asm__ __volatile__("lock cmpxchgl %[new], %[at]" : "=@ccz"(done), [at] "+m"(*at), "+a"(*old) : [new] "q"(new) : "memory");
  return done;
}

static uint64_t through_a_pointer(uint64_t *at, uint64_t old, uint64_t new) {
  uint64_t before;
  __asm__ __volatile__("lock\n\tcmpxchgq %1, (%2)" : "=a"(before) : "r"(new), "r"(at), "0"(old) : "memory");
  return before;
}

static _Bool decremented_to_zero(uint32_t *at) {
  unsigned char zero;
  __asm__ __volatile__("lock decl %0; setz %1" : "+m"(*at), "=qm"(zero) : : "memory", "cc");
  return zero;
}

static _Bool set_bit(uint64_t *at, uint64_t bit) {
  _Bool before;
  __asm__ __volatile__("lock btsq %2, %0; setc %1" : "+m"(*at), "=q"(before) : "r"(bit) : "memory", "cc");
  return before;
}

static uint64_t lowest(uint64_t word, uint64_t otherwise) {
  __asm__("bsfq %1, %0" : "+r"(otherwise) : "r"(word) : "cc");
  return otherwise;
}

static int highest(uint32_t word) {
  uint32_t number;
  __asm__("bsrl %1, %0 ;" : "=r"(number) : "r"(word) : "cc");
  return number;
}

int main(void) {
  assert(lowest(40, 7) == 3 && lowest(0, 7) == 7);
  assert(highest(40) == 5 && highest(1) == 0 && highest(~0u) == 31);
  assert(fetch_add(&word, 2) == 40 && word == 42);
  assert(swap(&word, 7) == 42 && word == 7);
  assert(!exchanged(&word, 8, 9) && word == 7);
  assert(exchanged(&word, 7, 0x12345678) && word == 0x12345678);
  uint32_t old = 1;
  assert(!exchanged_by_flag(&word, &old, 2) && old == 0x12345678);
  assert(exchanged_by_flag(&word, &old, 2) && word == 2);
  assert(through_a_pointer(&wide[1], 0, 1ull << 40) == 0 && wide[1] == 1ull << 40);
  assert(through_a_pointer(&wide[1], 0, 5) == 1ull << 40 && wide[1] == 1ull << 40);
  assert(!decremented_to_zero(&word) && decremented_to_zero(&word) && word == 0);
  assert(!set_bit(wide, 3) && set_bit(wide, 3) && wide[0] == 8);
  assert(!set_bit(wide, 64) && wide[1] == (1ull << 40 | 1));

  __asm__ __volatile__("movl %1, %0" : "=m"(word) : "iq"(5) : "memory");
  uint32_t loaded;
  __asm__ __volatile__("movl %1, %0" : "=q"(loaded) : "m"(word) : "memory");
  assert(loaded == 5);
  __asm__ __volatile__("lock orl %1, %0" : "+m"(word) : "ir"(8) : "memory", "cc");
  __asm__ __volatile__("lock; andl $12, %0" : "+m"(word) : : "memory", "cc");
  __asm__ __volatile__("lock xorb %b1, %0" : "+m"(byte) : "q"(0x1ff) : "memory", "cc");
  __asm__ __volatile__("incl %0" : "+m"(word) : : "cc");
  __asm__ __volatile__("lock; notl %0" : "+m"(word) : : "memory");
  assert(word == ~13u && byte == 0xff);
  uint32_t sum = 3;
  __asm__("addl %1, %0\n\tnegl %0" : "+r"(sum) : "r"(4) : "cc");
  assert(sum == (uint32_t)-7);

  void *mine = wide;
  __asm__ __volatile__("xchgq %0, %1" : "+r"(mine), "+m"(pointer) : : "memory");
  assert(mine == &word && pointer == wide);

  int hidden = 3;
  __asm__ volatile("" : "+r"(hidden));
  double real = 0.5;
  __asm__("" : "+x"(real));
  __asm__ volatile("" : : "g"(&word) : "memory");
  __asm__ volatile("" : "=m"(word));
  __asm__ volatile("# a comment of the assembler");
  assert(hidden == 3 && word == ~13u);
  return 0;
}
