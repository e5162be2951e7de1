// An object that a hazard pointer protects is not reclaimed.
#include <assert.h>
#include <ck_hp.h>
#include <pthread.h>

struct object {
  int value;
  ck_hp_hazard_t hazard;
};
static ck_hp_t state;
static ck_hp_record_t reading, writing;
static void *slots[2];
static struct object first = {1}, second = {1};
static struct object *shared = &first;

static void reclaim(void *p) { ((struct object *)p)->value = 0; }

static void *reader(void *p) {
  struct object *seen = ck_pr_load_ptr(&shared);
  ck_hp_set_fence(&reading, 0, seen);
  if (seen == ck_pr_load_ptr(&shared))
    assert(seen->value == 1);
  ck_hp_clear(&reading);
  return p;
}

int main(void) {
  ck_hp_init(&state, 1, 1, reclaim);
  ck_hp_register(&state, &reading, &slots[0]);
  ck_hp_register(&state, &writing, &slots[1]);
  pthread_t t;
  pthread_create(&t, 0, reader, 0);
  ck_pr_store_ptr(&shared, &second);
  ck_pr_fence_memory();
  ck_hp_free(&writing, &first.hazard, &first, &first);
  pthread_join(t, 0);
  return 0;
}
