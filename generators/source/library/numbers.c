// Functions that read integers from strings, in the C locale.
#include "weakspot.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

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

// The magnitude of the number that a string begins with, at most `most`, or `least` if it is
// negative, where `errno` is set. `negative` gets whether it is.
static unsigned long magnitude(const char *from, char **end, int base, unsigned long most,
                               unsigned long least, int *negative) {
  const char *at = from;
  while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
    at++;
  *negative = *at == '-';
  if (*at == '-' || *at == '+')
    at++;
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
