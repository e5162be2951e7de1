// A reader that retries sees both variables of a writer, or neither.
#include <assert.h>
#include <ck_sequence.h>
#include <pthread.h>

static ck_sequence_t sequence = CK_SEQUENCE_INITIALIZER;
static int x, y;

static void *writer(void *p) {
  ck_sequence_write_begin(&sequence);
  ck_pr_store_int(&x, 1);
  ck_pr_store_int(&y, 1);
  ck_sequence_write_end(&sequence);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  unsigned version;
  int a, b;
  do {
    version = ck_sequence_read_begin(&sequence);
    a = ck_pr_load_int(&x);
    b = ck_pr_load_int(&y);
  } while (ck_sequence_read_retry(&sequence, version));
  assert(a == b);
  pthread_join(t, 0);
  return 0;
}
