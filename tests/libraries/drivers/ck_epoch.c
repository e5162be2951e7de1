// A reader in a section sees an object that is not yet reclaimed.
#include <assert.h>
#include <ck_epoch.h>
#include <pthread.h>

struct object {
  int value;
  ck_epoch_entry_t entry;
};
static ck_epoch_t epoch;
static ck_epoch_record_t reading, writing;
static struct object first = {1}, second = {1};
static struct object *shared = &first;

static void *reader(void *p) {
  ck_epoch_begin(&reading, 0);
  struct object *seen = ck_pr_load_ptr(&shared);
  assert(seen->value == 1);
  ck_epoch_end(&reading, 0);
  return 0;
}

int main(void) {
  ck_epoch_init(&epoch);
  ck_epoch_register(&epoch, &reading, 0);
  ck_epoch_register(&epoch, &writing, 0);
  pthread_t t;
  pthread_create(&t, 0, reader, 0);
  ck_pr_store_ptr(&shared, &second);
  ck_epoch_synchronize(&writing);
  first.value = 0;
  pthread_join(t, 0);
  return 0;
}
