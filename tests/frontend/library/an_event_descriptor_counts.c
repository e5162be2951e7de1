// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int counter, tokens, data;

static void *post(void *unused) {
  data = 1;
  uint64_t one = 1;
  assert(write(counter, &one, sizeof one) == sizeof one);
  return unused;
}

int main(void) {
  pthread_t thread;
  uint64_t value;
  counter = eventfd(0, 0);
  tokens = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  assert(counter > 2 && tokens > 2 && counter != tokens);
  pthread_create(&thread, 0, post, 0);
  assert(read(counter, &value, sizeof value) == sizeof value);
  assert(value == 1 && data == 1);
  pthread_join(thread, 0);
  struct pollfd both[] = {{.fd = counter, .events = POLLIN}, {.fd = tokens, .events = POLLIN}};
  assert(poll(both, 2, -1) == 1 && !both[0].revents && both[1].revents == POLLIN);
  assert(eventfd_read(tokens, &value) == 0 && value == 1);
  assert(eventfd_read(tokens, &value) == 0 && value == 1);
  assert(read(tokens, &value, sizeof value) == -1 && errno == EAGAIN);
  assert(read(tokens, &value, 4) == -1 && errno == EINVAL);
  assert(fcntl(counter, F_GETFL) == O_RDWR && fcntl(tokens, F_GETFL, 0) == (O_RDWR | O_NONBLOCK));
  assert(fcntl(counter, F_SETFL, O_RDWR | O_NONBLOCK) == 0 && fcntl(tokens, F_SETFD, FD_CLOEXEC) == 0);
  assert(read(counter, &value, sizeof value) == -1 && errno == EAGAIN);
  assert(close(tokens) == 0 && close(tokens) == -1 && errno == EBADF);
}
