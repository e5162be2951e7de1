// Safe
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *read_numbers(void *p) {
  char *end;
  const char *text = " \t-42rest";
  assert(strtol(text, &end, 10) == -42 && !strcmp(end, "rest"));
  assert(strtol("0x1F", &end, 0) == 31 && !*end);
  assert(strtol("0x", &end, 16) == 0 && !strcmp(end, "x"));
  assert(strtol("017", 0, 0) == 15 && strtol("z", 0, 36) == 35);
  assert(strtol("9223372036854775807", 0, 10) == LONG_MAX && errno == 0);
  assert(strtol("-9223372036854775808", 0, 10) == LONG_MIN && errno == 0);
  assert(strtol("9223372036854775808", 0, 10) == LONG_MAX && errno == ERANGE);
  assert(strtoul("-1", 0, 10) == ULONG_MAX && strtoul("18446744073709551616", 0, 10) == ULONG_MAX);
  text = "none";
  assert(strtol(text, &end, 10) == 0 && end == text);
  assert(atoi("12") == 12 && strtoull("77", 0, 8) == 63);
  return p;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, read_numbers, 0);
  pthread_join(thread, 0);
}
