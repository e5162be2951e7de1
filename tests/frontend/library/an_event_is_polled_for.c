// Safe
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

static int counter, data;

static void *post(void *unused) {
  data = 1;
  eventfd_write(counter, 1);
  return unused;
}

int main(void) {
  pthread_t thread;
  counter = eventfd(0, EFD_NONBLOCK);
  pthread_create(&thread, 0, post, 0);
  struct pollfd one = {.fd = counter, .events = POLLIN};
  if (poll(&one, 1, 10) == 0)
    assert(poll(&one, 1, -1) == 1);
  assert(one.revents == POLLIN && data == 1);
  pthread_join(thread, 0);
}
