// Safe
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <threads.h>

static int none(void *unused) { return 0; }

int main(void) {
  thrd_t t;
  thrd_create(&t, none, 0);
  assert(!strcmp(strerror(EINVAL), "Invalid argument"));
  assert(!strcmp(strerror(ETIMEDOUT), "Connection timed out"));
  thrd_join(t, 0);
}
