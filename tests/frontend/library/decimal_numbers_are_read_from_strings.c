// Safe
#include <assert.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *end;
  assert(strtod(" -12.5rest", &end) == -12.5 && !strcmp(end, "rest"));
  assert(strtod("0.1", 0) == 0.1 && strtod("3.14159265358979", 0) == 3.14159265358979);
  assert(strtod("1e22", 0) == 1e22 && strtod("1.5E-3x", &end) == 1.5e-3 && *end == 'x');
  assert(strtod("0.000e99", 0) == 0 && 1 / strtod("-0", 0) < 0);
  const char *none = ".", *exponent = "7e+";
  assert(strtod(none, &end) == 0 && end == none);
  assert(strtod(exponent, &end) == 7 && end == exponent + 1);
  assert(strtof("0.1", 0) == 0.1f && strtof("16777216e-10", 0) == 16777216e-10f);
  assert(atof("2.") == 2);
}
