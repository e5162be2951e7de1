// Safe
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <threads.h>

static int none(void *unused) { return 0; }

int main(void) {
  thrd_t t;
  thrd_create(&t, none, 0);
  char buffer[40];
  assert(strerror_r(EINVAL, buffer, sizeof buffer) == 0 && !strcmp(buffer, "Invalid argument"));
  thrd_join(t, 0);
}
