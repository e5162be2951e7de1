// The queue of completions: what the kernel, here a thread, writes before it moves the tail is read
// after io_uring_for_each_cqe, and an entry that was advanced past is free for the kernel.
#define _GNU_SOURCE
#include <assert.h>
#include <liburing.h>
#include <pthread.h>

static unsigned head, tail;
static struct io_uring_cqe entries[1];
static struct io_uring ring;

static void *kernel(void *unused) {
  for (unsigned number = 0; number < 2; number++) {
    if (number - io_uring_smp_load_acquire(&head) == 1) break;
    entries[0].user_data = number + 1;
    io_uring_smp_store_release(&tail, number + 1);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  struct io_uring_cqe *entry;
  unsigned at;
  ring.cq.khead = &head;
  ring.cq.ktail = &tail;
  ring.cq.ring_mask = 0;
  ring.cq.cqes = entries;
  pthread_create(&thread, 0, kernel, 0);
  io_uring_for_each_cqe(&ring, at, entry) {
    assert(entry->user_data == at + 1);
    io_uring_cq_advance(&ring, 1);
  }
  pthread_join(thread, 0);
}
