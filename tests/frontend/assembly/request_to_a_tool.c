// Safe under sc, rc20
#include <assert.h>

// As valgrind.h asks whether the program runs under Valgrind: the processor does nothing, and the
// answer is the default, which is in the register of the result.
static unsigned long asked(unsigned long otherwise) {
  unsigned long request[6] = {0x1001}, answer;
  __asm__ volatile("rolq $3,  %%rdi ; rolq $13, %%rdi\n\t"
                   "rolq $61, %%rdi ; rolq $51, %%rdi\n\t"
                   "xchgq %%rbx,%%rbx"
                   : "=d"(answer)
                   : "a"(&request[0]), "0"(otherwise)
                   : "cc", "memory");
  return answer;
}

int main(void) { assert(asked(7) == 7); }
