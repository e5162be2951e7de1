// One producer and one consumer of a list-based queue.
#include <assert.h>
#include <ck_fifo.h>
#include <pthread.h>

static ck_fifo_spsc_t fifo;
static ck_fifo_spsc_entry_t stub, entries[2];
static int letters[2];

static void *producer(void *p) {
  for (int i = 0; i < 2; i++) {
    letters[i] = i + 1;
    ck_fifo_spsc_enqueue(&fifo, &entries[i], &letters[i]);
  }
  return 0;
}

int main(void) {
  ck_fifo_spsc_init(&fifo, &stub);
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  int expected = 1;
  for (int i = 0; i < 2; i++) {
    int *letter;
    if (ck_fifo_spsc_dequeue(&fifo, &letter))
      assert(*letter == expected++);
  }
  pthread_join(t, 0);
  return 0;
}
