// Safe
#include <assert.h>
#include <stdio.h>

int main(void) {
  assert(fwrite("ab", 1, 2, stdout) == 2);
  assert(fwrite("ab", 0, 2, stdout) == 0);
}
