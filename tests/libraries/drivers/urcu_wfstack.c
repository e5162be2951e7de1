// A thread pushes two items, another pops: whole.
#define _LGPL_SOURCE
#include <assert.h>
#include <pthread.h>
#include <urcu/wfstack.h>

struct item {
  int value;
  struct cds_wfs_node node;
};
static struct __cds_wfs_stack stack;
static struct item items[2];

static void *pusher(void *p) {
  for (int i = 0; i < 2; i++) {
    items[i].value = i + 1;
    cds_wfs_node_init(&items[i].node);
    cds_wfs_push(&stack, &items[i].node);
  }
  return 0;
}

int main(void) {
  __cds_wfs_init(&stack);
  pthread_t t;
  pthread_create(&t, 0, pusher, 0);
  struct cds_wfs_node *node = __cds_wfs_pop_nonblocking(&stack);
  if (node && node != CDS_WFS_WOULDBLOCK) {
    struct item *one = caa_container_of(node, struct item, node);
    assert(one->value == (one == &items[0] ? 1 : 2));
  }
  pthread_join(t, 0);
  return 0;
}
