// Functions that copy, compare and search strings, by those that the engine provides: strlen, strnlen,
// strchr, strncmp, memcmp, memcpy.
#define _GNU_SOURCE
#include "weakspot.h"
#include <stdlib.h>
#include <string.h>

WEAKSPOT_LIBRARY char *stpcpy(char *restrict to, const char *restrict from) {
  size_t length = strlen(from);
  memcpy(to, from, length + 1);
  return to + length;
}

WEAKSPOT_LIBRARY char *strcpy(char *restrict to, const char *restrict from) {
  memcpy(to, from, strlen(from) + 1);
  return to;
}

WEAKSPOT_LIBRARY char *strncpy(char *restrict to, const char *restrict from, size_t size) {
  size_t length = strnlen(from, size);
  memcpy(to, from, length);
  memset(to + length, 0, size - length);
  return to;
}

WEAKSPOT_LIBRARY char *strcat(char *restrict to, const char *restrict from) {
  memcpy(to + strlen(to), from, strlen(from) + 1);
  return to;
}

WEAKSPOT_LIBRARY char *strncat(char *restrict to, const char *restrict from, size_t size) {
  size_t length = strnlen(from, size);
  char *end = to + strlen(to);
  memcpy(end, from, length);
  end[length] = 0;
  return to;
}

WEAKSPOT_LIBRARY size_t strlcpy(char *restrict to, const char *restrict from, size_t size) {
  size_t length = strlen(from);
  if (size > 0) {
    size_t copied = length < size ? length : size - 1;
    memcpy(to, from, copied);
    to[copied] = 0;
  }
  return length;
}

WEAKSPOT_LIBRARY size_t strlcat(char *restrict to, const char *restrict from, size_t size) {
  size_t length = strnlen(to, size);
  return length + strlcpy(to + length, from, size - length);
}

WEAKSPOT_LIBRARY char *strdup(const char *from) {
  size_t size = strlen(from) + 1;
  char *to = malloc(size);
  if (to)
    memcpy(to, from, size);
  return to;
}

WEAKSPOT_LIBRARY char *strndup(const char *from, size_t size) {
  size_t length = strnlen(from, size);
  char *to = malloc(length + 1);
  if (!to)
    return 0;
  memcpy(to, from, length);
  to[length] = 0;
  return to;
}

WEAKSPOT_LIBRARY void explicit_bzero(void *object, size_t size) { memset(object, 0, size); }

static int lower(char c) {
  unsigned char byte = c;
  return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

WEAKSPOT_LIBRARY int strncasecmp(const char *one, const char *other, size_t size) {
  for (; size > 0; one++, other++, size--)
    if (lower(*one) != lower(*other) || !*one)
      return lower(*one) - lower(*other);
  return 0;
}

WEAKSPOT_LIBRARY int strcasecmp(const char *one, const char *other) {
  return strncasecmp(one, other, (size_t)-1);
}

WEAKSPOT_LIBRARY char *strrchr(const char *text, int c) {
  for (size_t at = strlen(text) + 1; at > 0; at--)
    if (text[at - 1] == (char)c)
      return (char *)text + at - 1;
  return 0;
}

WEAKSPOT_LIBRARY char *strstr(const char *text, const char *wanted) {
  size_t length = strlen(wanted);
  for (;; text++) {
    if (!strncmp(text, wanted, length))
      return (char *)text;
    if (!*text)
      return 0;
  }
}

WEAKSPOT_LIBRARY void *memrchr(const void *bytes, int c, size_t size) {
  for (const unsigned char *at = bytes; size > 0; size--)
    if (at[size - 1] == (unsigned char)c)
      return (void *)(at + size - 1);
  return 0;
}

WEAKSPOT_LIBRARY void *memmem(const void *bytes, size_t size, const void *wanted, size_t length) {
  for (const char *at = bytes; size >= length; at++, size--)
    if (!memcmp(at, wanted, length))
      return (void *)at;
  return 0;
}

static size_t span(const char *text, const char *set, int within) {
  size_t length = 0;
  while (text[length] && !!strchr(set, text[length]) == within)
    length++;
  return length;
}

WEAKSPOT_LIBRARY size_t strspn(const char *text, const char *set) { return span(text, set, 1); }

WEAKSPOT_LIBRARY size_t strcspn(const char *text, const char *set) { return span(text, set, 0); }

WEAKSPOT_LIBRARY char *strtok_r(char *restrict text, const char *restrict set,
                                char **restrict rest) {
  char *word = text ? text : *rest;
  word += span(word, set, 1);
  char *end = word + span(word, set, 0);
  *rest = *end ? end + 1 : end;
  if (!*word)
    return 0;
  *end = 0;
  return word;
}

WEAKSPOT_LIBRARY char *strsep(char **rest, const char *set) {
  char *word = *rest;
  if (!word)
    return 0;
  char *end = word + span(word, set, 0);
  *rest = *end ? end + 1 : 0;
  if (*end)
    *end = 0;
  return word;
}

WEAKSPOT_LIBRARY int ffs(int word) { return __builtin_ffs(word); }

WEAKSPOT_LIBRARY int ffsl(long word) { return __builtin_ffsl(word); }

WEAKSPOT_LIBRARY int ffsll(long long word) { return __builtin_ffsll(word); }
