// File descriptors: standard output and error, where every write succeeds, and the counters of
// eventfd(2). The kernel locks a counter for each access: a write is a release and a read that returns
// is an acquire operation. The number of a descriptor says how it was opened, and is not used again.
#define _GNU_SOURCE
#include "weakspot.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { FIRST = 4, MOST = 64, SEMAPHORE = 1, NONBLOCK = 2, KINDS = 4 };

static uint64_t counts[MOST];
static int closed[MOST];
static int changed[MOST]; // what fcntl has set: 1 to block, 2 not to
static unsigned made;

static int failed(int error) {
  errno = error;
  return -1;
}

// The place of a descriptor's counter; -1 if the descriptor is not open.
static int place_of(int descriptor) {
  if (descriptor >= 0 && descriptor < FIRST)
    weakspot_unsupported("of file descriptors, only those of eventfd are modelled, and writing to "
                         "standard output and standard error");
  unsigned place = (unsigned)(descriptor - FIRST) / KINDS;
  int open = descriptor >= FIRST && place < __atomic_load_n(&made, __ATOMIC_RELAXED) &&
             !__atomic_load_n(&closed[place], __ATOMIC_RELAXED);
  return open ? (int)place : failed(EBADF);
}

WEAKSPOT_LIBRARY int eventfd(unsigned value, int flags) {
  unsigned place = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
  if (place == MOST)
    weakspot_unsupported("more than 64 descriptors of eventfd are not modelled");
  if (value)
    __atomic_fetch_add(&counts[place], value, __ATOMIC_RELEASE);
  int kind = (flags & EFD_SEMAPHORE ? SEMAPHORE : 0) | (flags & EFD_NONBLOCK ? NONBLOCK : 0);
  return FIRST + KINDS * (int)place + kind;
}

static int blocks(int descriptor, int place) {
  int set = __atomic_load_n(&changed[place], __ATOMIC_RELAXED);
  return set ? set == 1 : !((descriptor - FIRST) % KINDS & NONBLOCK);
}

WEAKSPOT_LIBRARY int fcntl(int descriptor, int command, ...) {
  int place = place_of(descriptor);
  if (place < 0)
    return -1;
  va_list arguments;
  va_start(arguments, command);
  int flags = command == F_SETFL ? va_arg(arguments, int) : 0;
  va_end(arguments);
  switch (command) {
  case F_GETFL:
    return O_RDWR | (blocks(descriptor, place) ? 0 : O_NONBLOCK);
  case F_SETFL:
    __atomic_store_n(&changed[place], flags & O_NONBLOCK ? 2 : 1, __ATOMIC_RELAXED);
  case F_GETFD:
  case F_SETFD:
    return 0;
  }
  weakspot_unsupported("this command of fcntl is not modelled");
}

WEAKSPOT_LIBRARY int eventfd_write(int descriptor, eventfd_t value) {
  int place = place_of(descriptor);
  if (place < 0)
    return -1;
  if (value > UINT32_MAX)
    weakspot_unsupported("of eventfd, only values of 32 bits are modelled");
  __atomic_fetch_add(&counts[place], value, __ATOMIC_ACQ_REL);
  return 0;
}

WEAKSPOT_LIBRARY int eventfd_read(int descriptor, eventfd_t *value) {
  int place = place_of(descriptor);
  if (place < 0)
    return -1;
  int kind = (descriptor - FIRST) % KINDS;
  for (;;) {
    uint64_t now = __atomic_load_n(&counts[place], __ATOMIC_ACQUIRE);
    while (now) {
      uint64_t taken = kind & SEMAPHORE ? 1 : now;
      if (__atomic_compare_exchange_n(&counts[place], &now, now - taken, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        *value = taken;
        return 0;
      }
    }
    if (!blocks(descriptor, place))
      return failed(EAGAIN);
  }
}

WEAKSPOT_LIBRARY ssize_t write(int descriptor, const void *data, size_t size) {
  if (descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO)
    return (ssize_t)size;
  eventfd_t value;
  if (place_of(descriptor) < 0)
    return -1;
  if (size < sizeof value)
    return failed(EINVAL);
  memcpy(&value, data, sizeof value);
  return eventfd_write(descriptor, value) ? -1 : (ssize_t)sizeof value;
}

WEAKSPOT_LIBRARY ssize_t read(int descriptor, void *data, size_t size) {
  eventfd_t value;
  if (place_of(descriptor) < 0)
    return -1;
  if (size < sizeof value)
    return failed(EINVAL);
  if (eventfd_read(descriptor, &value))
    return -1;
  memcpy(data, &value, sizeof value);
  return sizeof value;
}

WEAKSPOT_LIBRARY int close(int descriptor) {
  int place = place_of(descriptor);
  if (place < 0 || __atomic_exchange_n(&closed[place], 1, __ATOMIC_RELAXED))
    return failed(EBADF);
  return 0;
}

// The time has expired whenever nothing is ready: to wait until something is is to come later.
WEAKSPOT_LIBRARY int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
  for (;;) {
    int ready = 0;
    for (nfds_t each = 0; each < count; each++) {
      struct pollfd *one = &descriptors[each];
      one->revents = 0;
      if (one->fd < 0)
        continue;
      int place = place_of(one->fd);
      if (place < 0)
        one->revents = POLLNVAL;
      else if (__atomic_load_n(&counts[place], __ATOMIC_ACQUIRE))
        one->revents = one->events & (POLLIN | POLLOUT);
      else
        one->revents = one->events & POLLOUT;
      ready += !!one->revents;
    }
    if (ready || milliseconds >= 0)
      return ready;
  }
}
