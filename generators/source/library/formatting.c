// Text that is printed to memory, in the C locale: integers, characters, strings, pointers, and numbers of type
// double without an exponent.
#define _GNU_SOURCE
#include "weakspot.h"
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where the text goes; `length` counts what does not fit too.
struct text {
  char *to;
  size_t size, length;
};

static void put(struct text *text, char each) {
  if (text->length + 1 < text->size)
    text->to[text->length] = each;
  text->length++;
}

static void repeat(struct text *text, char each, int count) {
  for (; count > 0; count--)
    put(text, each);
}

// A conversion: its flags, width and precision, which is negative if there is none.
struct conversion {
  int left, zero, alternative, width, precision;
  char sign;
};

// `count` characters in a field.
static void field(struct text *text, const struct conversion *how, const char *from, int count) {
  repeat(text, ' ', how->left ? 0 : how->width - count);
  for (int i = 0; i < count; i++)
    put(text, from[i]);
  repeat(text, ' ', how->left ? how->width - count : 0);
}

static void number(struct text *text, const struct conversion *how, uintmax_t value, char sign,
                   const char *prefix, unsigned base, const char *figures) {
  char digits[sizeof value * CHAR_BIT];
  int count = 0, extra = (sign != 0) + (int)strlen(prefix);
  for (; value; value /= base)
    digits[count++] = figures[value % base];
  int zeros = (how->precision < 0 ? 1 : how->precision) - count;
  if (how->alternative && base == 8 && zeros < 1)
    zeros = 1;
  if (zeros < 0)
    zeros = 0;
  int blank = how->width - extra - zeros - count;
  if (how->zero && !how->left && how->precision < 0 && blank > 0) {
    zeros += blank;
    blank = 0;
  }
  repeat(text, ' ', how->left ? 0 : blank);
  if (sign)
    put(text, sign);
  while (*prefix)
    put(text, *prefix++);
  repeat(text, '0', zeros);
  while (count)
    put(text, digits[--count]);
  repeat(text, ' ', how->left ? blank : 0);
}

// A number with decimal places: exact, and then rounded to the nearest, a half to the even one.
static void fixed(struct text *text, const struct conversion *how, double value) {
  enum { MOST = 64, FRACTION = 52, SPECIAL = 0x7ff, LIMBS = 34 };
  unsigned long bits;
  memcpy(&bits, &value, sizeof bits);
  int power = bits >> FRACTION & SPECIAL, places = how->precision < 0 ? 6 : how->precision, has_sign = bits >> 63;
  unsigned long magnitude = bits & ((1ul << FRACTION) - 1);
  char sign = has_sign ? '-' : how->sign, digits[MOST];
  if (power == SPECIAL) {
    char name[] = {sign, magnitude ? 'n' : 'i', magnitude ? 'a' : 'n', magnitude ? 'n' : 'f'};
    field(text, how, name + !sign, 3 + !!sign);
    return;
  }
  magnitude |= power ? 1ul << FRACTION : 0;
  int below = 1023 + FRACTION - (power ? power : 1); // how many of its bits are below the point
  if (below < -11 || places > MOST)
    weakspot_unsupported("of %f, numbers below 2^64 with at most 64 decimal places are modelled");
  unsigned long whole = below < 0 ? magnitude << -below : below < 64 ? magnitude >> below : 0;
  unsigned limbs[LIMBS] = {0}; // the bits below the point
  for (int i = 0; i <= FRACTION && i < below; i++)
    limbs[(below - i - 1) / 32] |= (unsigned)(magnitude >> i & 1) << (31 - (below - i - 1) % 32);
  for (int place = 0; place < places; place++) {
    unsigned long carry = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
      carry += limbs[i] * 10ul;
      limbs[i] = (unsigned)carry;
      carry >>= 32;
    }
    digits[place] = (char)carry;
  }
  int is_up = limbs[0] >> 31, is_more = limbs[0] << 1 != 0;
  for (int i = 1; i < LIMBS; i++)
    is_more |= limbs[i] != 0;
  is_up &= is_more || (places ? digits[places - 1] : whole) & 1;
  for (int i = places - 1; i >= 0 && is_up; i--) {
    is_up = digits[i] == 9;
    digits[i] = is_up ? 0 : digits[i] + 1;
  }
  int has_point = places || how->alternative;
  int width = how->left ? 0 : how->width - places - has_point;
  struct conversion first = {.zero = how->zero, .width = width, .precision = -1};
  size_t start = text->length;
  number(text, &first, whole + (unsigned long)is_up, sign, "", 10, "0123456789");
  if (has_point)
    put(text, '.');
  for (int i = 0; i < places; i++)
    put(text, (char)('0' + digits[i]));
  repeat(text, ' ', how->left ? how->width - (int)(text->length - start) : 0);
}

// The bytes of an integer argument: 4 without a length modifier.
static int size_of(const char **at) {
  int size = sizeof(int);
  for (;; ++*at)
    switch (**at) {
    case 'h':
      size = size == sizeof(short) ? sizeof(char) : sizeof(short);
      break;
    case 'l':
    case 'j':
    case 'z':
    case 't':
      size = sizeof(long);
      break;
    default:
      return size;
    }
}

static int digits(const char **at) {
  int value = 0;
  for (; **at >= '0' && **at <= '9'; ++*at)
    value = value * 10 + (**at - '0');
  return value;
}

WEAKSPOT_LIBRARY int vsnprintf(char *restrict to, size_t size, const char *restrict format,
                               va_list list) {
  struct text text = {to, size, 0};
  for (const char *at = format; *at; at++) {
    if (*at != '%') {
      put(&text, *at);
      continue;
    }
    struct conversion how = {.precision = -1};
    for (at++;; at++) {
      if (*at == '-')
        how.left = 1;
      else if (*at == '0')
        how.zero = 1;
      else if (*at == '#')
        how.alternative = 1;
      else if (*at == '+' || (*at == ' ' && !how.sign))
        how.sign = *at;
      else
        break;
    }
    if (*at == '*') {
      how.width = va_arg(list, int);
      at++;
    } else {
      how.width = digits(&at);
    }
    if (how.width < 0) {
      how.left = 1;
      how.width = -how.width;
    }
    if (*at == '.') {
      at++;
      if (*at == '*') {
        how.precision = va_arg(list, int);
        at++;
      } else {
        how.precision = digits(&at);
      }
    }
    int bytes = size_of(&at);
    switch (*at) {
    case 'd':
    case 'i': {
      intmax_t value = bytes == sizeof(long) ? va_arg(list, long) : va_arg(list, int);
      if (bytes == sizeof(short))
        value = (short)value;
      if (bytes == sizeof(char))
        value = (signed char)value;
      uintmax_t magnitude = value < 0 ? 0 - (uintmax_t)value : (uintmax_t)value;
      number(&text, &how, magnitude, value < 0 ? '-' : how.sign, "", 10, "0123456789");
      break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      uintmax_t value =
          bytes == sizeof(long) ? va_arg(list, unsigned long) : va_arg(list, unsigned);
      if (bytes == sizeof(short))
        value = (unsigned short)value;
      if (bytes == sizeof(char))
        value = (unsigned char)value;
      const char *prefix = "";
      if (how.alternative && value && (*at == 'x' || *at == 'X'))
        prefix = *at == 'x' ? "0x" : "0X";
      number(&text, &how, value, 0, prefix, *at == 'u' ? 10 : *at == 'o' ? 8 : 16,
             *at == 'X' ? "0123456789ABCDEF" : "0123456789abcdef");
      break;
    }
    case 'c': {
      char value = (char)va_arg(list, int);
      field(&text, &how, &value, 1);
      break;
    }
    case 's': {
      const char *value = va_arg(list, const char *);
      if (!value)
        value = "(null)";
      field(&text, &how, value,
            (int)(how.precision < 0 ? strlen(value) : strnlen(value, (size_t)how.precision)));
      break;
    }
    case 'f':
      if (bytes != sizeof(int) && at[-1] != 'l')
        weakspot_unsupported("of %f, numbers of type double are modelled");
      fixed(&text, &how, va_arg(list, double));
      break;
    case 'p':
      number(&text, &how, (uintptr_t)va_arg(list, void *), 0, "0x", 16, "0123456789abcdef");
      break;
    case '%':
      put(&text, '%');
      break;
    default:
      weakspot_unsupported("this conversion is not modelled: of printf's, d i u o x X c s p f and % are");
    }
  }
  if (size)
    to[text.length < size ? text.length : size - 1] = 0;
  return (int)text.length;
}

WEAKSPOT_LIBRARY int snprintf(char *restrict to, size_t size, const char *restrict format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(to, size, format, list);
  va_end(list);
  return length;
}

WEAKSPOT_LIBRARY int vsprintf(char *restrict to, const char *restrict format, va_list list) {
  return vsnprintf(to, INT_MAX, format, list);
}

WEAKSPOT_LIBRARY int sprintf(char *restrict to, const char *restrict format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(to, INT_MAX, format, list);
  va_end(list);
  return length;
}

WEAKSPOT_LIBRARY int vasprintf(char **restrict to, const char *restrict format, va_list list) {
  va_list again;
  va_copy(again, list);
  size_t size = (size_t)vsnprintf(0, 0, format, again) + 1;
  va_end(again);
  *to = malloc(size);
  return *to ? vsnprintf(*to, size, format, list) : -1;
}

WEAKSPOT_LIBRARY int asprintf(char **restrict to, const char *restrict format, ...) {
  va_list list;
  va_start(list, format);
  int length = vasprintf(to, format, list);
  va_end(list);
  return length;
}
