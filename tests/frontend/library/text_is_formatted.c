// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *expected, const char *format, ...) {
  char text[64];
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  assert(vsnprintf(text, sizeof text, format, list) == (int)strlen(expected));
  assert(!strcmp(text, expected));
  assert(vsnprintf(text, 3, format, again) == (int)strlen(expected));
  assert(!strncmp(text, expected, 2) && strlen(text) <= 2);
  va_end(again);
  va_end(list);
}

int main(void) {
  check("t-42-x", "t-%d-%s", 42, "x");
  check("   -7|-7   |-0007", "%5d|%-5d|%05d", -7, -7, -7);
  check("+3  3 003", "%+d % d %.3d", 3, 3, 3);
  check("ffffffff 0xff 0XFF 017 0", "%x %#x %#X %#o %#o", -1, 255, 255, 15, 0);
  check("-1 255 -32768", "%hhd %hhu %hd", 255, -1, 32768);
  check("18446744073709551615 -9223372036854775808", "%lu %lld", -1l, -0x7fffffffffffffffll - 1);
  check("ab|   a|(null)|%", "%.2s|%4s|%s|%%", "abc", "a", (char *)0);
  check("z  |  z", "%-*c|%*c", 3, 'z', 3, 'z');
  check("[]", "[%.0d]", 0);
  check("1.500000 -0.25 3 1.|00007.1", "%f %.2lf %.0f %#.0f|%07.1f", 1.5, -0.25, 2.5001, 1.0, 7.06);
  check("0 2 2 0.12 0.38 +0.100000000000000", "%.0f %.0f %.0f %.2f %.2f %+.15f", 0.5, 1.5, 2.5, 0.125, 0.375, 0.1);
  check("0.000000 2251799813685249.500000000000000 -0.0", "%f %.15f %.1f", 5e-324, 0x8000000000001.8p0, -0.0);
  check("  inf|-inf|nan  ", "%5f|%f|%-5f", 1 / 0., -1 / 0., __builtin_nan(""));
  char *made;
  assert(asprintf(&made, "%zu", sizeof(int)) == 1 && !strcmp(made, "4"));
  free(made);
}
