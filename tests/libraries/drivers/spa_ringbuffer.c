// The consumer reads what the producer has written, in that order.
#include <assert.h>
#include <pthread.h>
#include <spa/utils/ringbuffer.h>

static struct spa_ringbuffer ring;
static char data[4];

static void *producer(void *p) {
  for (char value = 1; value <= 3; value++) {
    uint32_t index;
    spa_ringbuffer_get_write_index(&ring, &index);
    spa_ringbuffer_write_data(&ring, data, 4, index & 3, &value, 1);
    spa_ringbuffer_write_update(&ring, index + 1);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  spa_ringbuffer_init(&ring);
  pthread_create(&t, 0, producer, 0);
  uint32_t index;
  int32_t filled = spa_ringbuffer_get_read_index(&ring, &index);
  for (int32_t k = 0; k < filled; k++) {
    char value;
    spa_ringbuffer_read_data(&ring, data, 4, (index + k) & 3, &value, 1);
    assert(value == k + 1);
  }
  spa_ringbuffer_read_update(&ring, index + filled);
  pthread_join(t, 0);
  return 0;
}
