// Functions that copy strings, by those that the engine provides: strlen, strnlen, memcpy.
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
