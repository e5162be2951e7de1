// Files of the system, of which there is none: a program that looks into /proc, /sys or /etc does
// not find what it looks for. Whether other files exist only the user knows.
#define _GNU_SOURCE
#include "weakspot.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int absent(const char *path) {
  static const char *const folders[] = {"/proc/", "/sys/", "/etc/"};
  for (int each = 0; each < 3; each++)
    if (!strncmp(path, folders[each], strlen(folders[each]))) {
      errno = ENOENT;
      return -1;
    }
  weakspot_unsupported("files are not modelled, except that there is none below /proc, /sys and /etc");
}

WEAKSPOT_LIBRARY int open(const char *path, int flags, ...) { return absent(path); }

WEAKSPOT_LIBRARY int access(const char *path, int mode) { return absent(path); }

WEAKSPOT_LIBRARY ssize_t readlink(const char *path, char *text, size_t size) { return absent(path); }

WEAKSPOT_LIBRARY FILE *fopen(const char *path, const char *mode) {
  absent(path);
  return 0;
}

WEAKSPOT_LIBRARY DIR *opendir(const char *path) {
  absent(path);
  return 0;
}
