// Safe
#include <stdlib.h>

#if __GLIBC_PREREQ(2, 30) || !__GNUC_PREREQ(4, 2)
#error
#endif

int main(void) {
  int64_t wide = 1;
  u_int8_t narrow = 1;
  return wide == narrow ? 0 : 1;
}
