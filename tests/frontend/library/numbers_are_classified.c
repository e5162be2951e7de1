// Safe
#include <assert.h>
#include <math.h>

static void check(double number, int class, int is_negative) {
  assert(fpclassify(number) == class && signbit(number) == is_negative);
  assert(isnan(number) == (class == FP_NAN) && isinf(number) == (class == FP_INFINITE));
  assert(isfinite(number) == !(isnan(number) || isinf(number)));
  assert(isnormal(number) == (class == FP_NORMAL));
  assert(__builtin_isnan(number) == isnan(number));
  assert(__builtin_isinf_sign(number) == (isinf(number) ? is_negative ? -1 : 1 : 0));
}

int main(void) {
  volatile double zero = 0;
  check(zero / zero, FP_NAN, !!signbit(zero / zero));
  check(-1 / zero, FP_INFINITE, 1);
  check(1 / zero, FP_INFINITE, 0);
  check(5e-324, FP_SUBNORMAL, 0);
  check(-zero, FP_ZERO, 1);
  check(-2.5, FP_NORMAL, 1);
  assert(fpclassify(1e-45f) == FP_SUBNORMAL && !isnormal(1e-45f) && isnormal((double)1e-45f));
}
