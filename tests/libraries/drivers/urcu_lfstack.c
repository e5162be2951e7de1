// Two threads push, one pops all: both items, whole.
#define _LGPL_SOURCE
#include <assert.h>
#include <pthread.h>
#include <urcu/lfstack.h>

struct item {
  int value;
  struct cds_lfs_node node;
};
static struct __cds_lfs_stack stack;
static struct item items[2];

static void *pusher(void *p) {
  items[1].value = 2;
  cds_lfs_node_init(&items[1].node);
  cds_lfs_push(&stack, &items[1].node);
  return 0;
}

int main(void) {
  __cds_lfs_init(&stack);
  pthread_t t;
  pthread_create(&t, 0, pusher, 0);
  items[0].value = 1;
  cds_lfs_node_init(&items[0].node);
  cds_lfs_push(&stack, &items[0].node);
  struct cds_lfs_head *all = __cds_lfs_pop_all(&stack);
  assert(all);
  for (struct cds_lfs_node *node = &all->node; node; node = node->next) {
    struct item *one = caa_container_of(node, struct item, node);
    assert(one->value == (one == &items[0] ? 1 : 2));
  }
  pthread_join(t, 0);
  return 0;
}
