// Two threads push, one pops a whole item.
#include <assert.h>
#include <ck_stack.h>
#include <pthread.h>

struct item {
  int value;
  ck_stack_entry_t entry;
};
CK_STACK_CONTAINER(struct item, entry, item_of)
static ck_stack_t stack = CK_STACK_INITIALIZER;
static struct item items[2];

static void *pusher(void *p) {
  items[1].value = 2;
  ck_stack_push_upmc(&stack, &items[1].entry);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, pusher, 0);
  items[0].value = 1;
  ck_stack_push_upmc(&stack, &items[0].entry);
  ck_stack_entry_t *one = ck_stack_pop_upmc(&stack);
  assert(one);
  assert(item_of(one)->value == (item_of(one) == &items[0] ? 1 : 2));
  pthread_join(t, 0);
  return 0;
}
