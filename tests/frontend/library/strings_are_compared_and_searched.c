// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>
static void *search(void *p) {
  char words[] = " one,two ", fields[] = "k=,v", *rest;
  const char *text = "a/b/c";
  assert(strrchr(text, '/') == text + 3 && strrchr(text, 0) == text + 5 && !strrchr(text, 'x'));
  assert(strstr(text, "b/") == text + 2 && strstr(text, "") == text && !strstr(text, "cc"));
  assert(!strcasecmp("One", "oNE") && strcasecmp("a", "B") < 0 && strcasecmp("ab", "A") > 0);
  assert(!strncasecmp("ABc", "abd", 2) && strncasecmp("ABc", "abd", 3) < 0);
  assert(strspn("aab", "a") == 2 && strspn("aa", "a") == 2 && strcspn("aab", "b") == 2);
  char *word = strtok_r(words, " ,", &rest);
  assert(word == words + 1 && !strcmp(word, "one"));
  assert(!strcmp(strtok_r(0, " ,", &rest), "two") && !strtok_r(0, " ,", &rest));
  rest = fields;
  assert(!strcmp(strsep(&rest, "=,"), "k") && !*strsep(&rest, "=,"));
  assert(!strcmp(strsep(&rest, "=,"), "v") && !rest && !strsep(&rest, "=,"));
  assert(memrchr(text, '/', 5) == text + 3 && memrchr(text, '/', 3) == text + 1 && !memrchr(text, 'c', 4));
  assert(memmem(text, 5, "/c", 2) == text + 3 && !memmem(text, 4, "/c", 2) && memmem(text, 0, "", 0) == text);
  assert(ffs(words[0] == ' ' ? 12 : 0) == 3 && !ffs(0) && ffsl(1L << 40) == 41 && ffsll(-1) == 1);
  explicit_bzero(words, 3);
  assert(!words[0] && !words[2] && words[3] == 'e');
  return p;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, search, 0);
  pthread_join(thread, 0);
}
