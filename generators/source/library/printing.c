// Output, which has no effect on what is checked: what is written is not looked at, and every write
// succeeds. No stream is a terminal.
#include "weakspot.h"
#include <stdio.h>
#include <unistd.h>

WEAKSPOT_LIBRARY size_t fwrite(const void *data, size_t size, size_t count, FILE *stream) {
  (void)data;
  (void)stream;
  return size ? count : 0;
}

WEAKSPOT_LIBRARY ssize_t write(int descriptor, const void *data, size_t size) {
  (void)data;
  if (descriptor != STDOUT_FILENO && descriptor != STDERR_FILENO)
    weakspot_unsupported("write is modelled for standard output and standard error only");
  return (ssize_t)size;
}

WEAKSPOT_LIBRARY int fileno(FILE *stream) {
  (void)stream;
  return STDOUT_FILENO;
}

WEAKSPOT_LIBRARY int isatty(int descriptor) {
  (void)descriptor;
  return 0;
}
