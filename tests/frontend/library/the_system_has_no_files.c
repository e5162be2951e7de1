// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *look(void *unused) {
  char text[9];
  assert(open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC) == -1 && errno == ENOENT);
  assert(!fopen("/proc/cpuinfo", "r") && !opendir("/sys/devices/system/node"));
  assert(access("/etc/ld.so.preload", R_OK) == -1 && readlink("/etc/malloc.conf", text, 9) == -1);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, look, 0);
  look(0);
  pthread_join(thread, 0);
}
