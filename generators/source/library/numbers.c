// Functions that read numbers from strings, in the C locale.
#include "weakspot.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

// The value of a digit or a letter; 36 for any other character.
static unsigned value_of(char each) {
  if (each >= '0' && each <= '9')
    return (unsigned)(each - '0');
  if (each >= 'a' && each <= 'z')
    return (unsigned)(each - 'a') + 10;
  if (each >= 'A' && each <= 'Z')
    return (unsigned)(each - 'A') + 10;
  return 36;
}

// Where the digits of a number begin, and whether it is negative.
static const char *after_sign(const char *at, int *negative) {
  while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
    at++;
  *negative = *at == '-';
  return at + (*at == '-' || *at == '+');
}

// The magnitude of the number that a string begins with, at most `most`, or `least` if it is
// negative, where `errno` is set. `negative` gets whether it is.
static unsigned long magnitude(const char *from, char **end, int base, unsigned long most,
                               unsigned long least, int *negative) {
  const char *at = after_sign(from, negative);
  if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
      value_of(at[2]) < 16) {
    at += 2;
    base = 16;
  }
  if (base == 0)
    base = *at == '0' ? 8 : 10;
  const char *first = at;
  unsigned long limit = *negative ? least : most, number = 0;
  int is_beyond = 0;
  for (unsigned digit; (digit = value_of(*at)) < (unsigned)base; at++) {
    if (number > (limit - digit) / (unsigned long)base)
      is_beyond = 1;
    number = number * (unsigned long)base + digit;
  }
  if (end)
    *end = (char *)(at == first ? from : at);
  if (is_beyond)
    errno = ERANGE;
  return is_beyond ? limit : number;
}

WEAKSPOT_LIBRARY long strtol(const char *restrict from, char **restrict end, int base) {
  int negative;
  unsigned long most = LONG_MAX, number;
  number = magnitude(from, end, base, most, most + 1, &negative);
  return (long)(negative ? 0 - number : number);
}

WEAKSPOT_LIBRARY long long strtoll(const char *restrict from, char **restrict end, int base) {
  return strtol(from, end, base);
}

WEAKSPOT_LIBRARY unsigned long strtoul(const char *restrict from, char **restrict end, int base) {
  int negative, before = errno;
  errno = 0;
  unsigned long number = magnitude(from, end, base, ULONG_MAX, ULONG_MAX, &negative);
  int is_beyond = errno == ERANGE;
  errno = is_beyond ? ERANGE : before;
  return negative && !is_beyond ? 0 - number : number;
}

WEAKSPOT_LIBRARY unsigned long long strtoull(const char *restrict from, char **restrict end,
                                             int base) {
  return strtoul(from, end, base);
}

WEAKSPOT_LIBRARY int atoi(const char *from) { return (int)strtol(from, 0, 10); }

WEAKSPOT_LIBRARY long atol(const char *from) { return strtol(from, 0, 10); }

WEAKSPOT_LIBRARY long long atoll(const char *from) { return strtol(from, 0, 10); }

static int is_digit(char c) { return value_of(c) < 10; }

// The decimal number that a string begins with. Its digits, as an integer, and its power of ten are at
// most what a type represents exactly, so that one operation rounds as the standard demands (Clinger,
// "How to read floating point numbers accurately", PLDI 1990).
static double decimal(const char *from, char **end, unsigned long most, long most_power) {
  int negative;
  const char *at = after_sign(from, &negative);
  if (!strncasecmp(at, "inf", 3) || !strncasecmp(at, "nan", 3) || !strncasecmp(at, "0x", 2))
    weakspot_unsupported("of strtod, only decimal numbers are modelled");
  const char *first = at, *point = 0;
  unsigned long digits = 0;
  long power = 0;
  for (; is_digit(*at) || (*at == '.' && !point); at++) {
    if (*at == '.') {
      point = at;
      continue;
    }
    digits = digits * 10 + value_of(*at);
    power -= point != 0;
    if (digits > most)
      weakspot_unsupported("a number with so many digits is not modelled");
  }
  if (at - first == (point != 0))
    at = from;
  else if ((*at == 'e' || *at == 'E') && is_digit(at[1 + (at[1] == '-' || at[1] == '+')]))
    power += strtol(at + 1, (char **)&at, 10);
  if (end)
    *end = (char *)at;
  double value = digits, scale = 1;
  if (digits && (power > most_power || power < -most_power))
    weakspot_unsupported("a number so large or so small is not modelled");
  for (long left = digits ? power : 0; left; left += left < 0 ? 1 : -1)
    scale *= 10;
  value = power < 0 ? value / scale : value * scale;
  return negative ? -value : value;
}

WEAKSPOT_LIBRARY double strtod(const char *restrict from, char **restrict end) {
  return decimal(from, end, 1ul << 53, 22);
}

// Of two such floats, rounding the quotient or product to double first does not matter (Figueroa, "When
// is double rounding innocuous?", SIGNUM 1995).
WEAKSPOT_LIBRARY float strtof(const char *restrict from, char **restrict end) {
  return (float)decimal(from, end, 1ul << 24, 10);
}

WEAKSPOT_LIBRARY double atof(const char *from) { return strtod(from, 0); }
