// The functions by which musl's <math.h> classifies numbers.
#include "weakspot.h"
#include <math.h>

#undef fpclassify

WEAKSPOT_LIBRARY int __fpclassify(double number) {
  return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, number);
}

WEAKSPOT_LIBRARY int __fpclassifyf(float number) {
  return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, number);
}

WEAKSPOT_LIBRARY int __signbit(double number) { return __builtin_signbit(number); }
WEAKSPOT_LIBRARY int __signbitf(float number) { return __builtin_signbitf(number); }
