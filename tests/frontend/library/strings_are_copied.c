// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static char name[16];
static void *run(void *text) {
  strcpy(name, text);
  return strdup(name);
}
int main(void) {
  pthread_t thread;
  void *result;
  char *copy, *end;
  char part[8] = "xxxxxxx";
  pthread_create(&thread, 0, run, "abc");
  pthread_join(thread, &result);
  copy = result;
  assert(!strcmp(copy, "abc") && copy != name);
  strncpy(part, copy, 2);
  assert(!strcmp(part, "abxxxxx"));
  strncpy(part, copy, 7);
  assert(part[3] == 0 && part[6] == 0);
  strcat(name, "def");
  strncat(name, "ghi", 1);
  assert(!strcmp(name, "abcdefg"));
  end = stpcpy(name, "xy");
  assert(end == name + 2);
  free(copy);
  copy = strndup("longer", 4);
  assert(!strcmp(copy, "long"));
  free(copy);
  assert(strlcpy(part, "abcdefghi", 4) == 9 && !strcmp(part, "abc"));
  assert(strlcat(part, "de", 8) == 5 && !strcmp(part, "abcde"));
  assert(strlcat(part, "fghi", 8) == 9 && !strcmp(part, "abcdefg"));
  assert(strlcat(part, "z", 3) == 4 && !strcmp(part, "abcdefg"));
  assert(strlcpy(part, "z", 0) == 1 && *part == 'a');
}
