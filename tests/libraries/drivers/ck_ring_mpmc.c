// A producer and a consumer of a ring for many: entries arrive in order, with what they point to.
#include <assert.h>
#include <ck_ring.h>
#include <pthread.h>

static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static int letters[2];

static void *producer(void *p) {
  for (int i = 0; i < 2; i++) {
    letters[i] = i + 1;
    assert(ck_ring_enqueue_mpmc(&ring, buffer, &letters[i]));
  }
  return 0;
}

int main(void) {
  ck_ring_init(&ring, 4);
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  int *letter;
  if (ck_ring_trydequeue_mpmc(&ring, buffer, &letter))
    assert(*letter == 1);
  pthread_join(t, 0);
  return 0;
}
