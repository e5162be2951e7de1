// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <threads.h>

int __xpg_strerror_r(int, char *, size_t);

static int none(void *unused) { return 0; }

int main(void) {
  thrd_t t;
  thrd_create(&t, none, 0);
  char buffer[40];
  const char *text = strerror_r(EINVAL, buffer, sizeof buffer);
  assert(!strcmp(text, "Invalid argument"));
  assert(__xpg_strerror_r(EAGAIN, buffer, sizeof buffer) == 0 && buffer[0] == 'R');
  assert(__xpg_strerror_r(EAGAIN, buffer, 3) == ERANGE);
  thrd_join(t, 0);
}
