// A thread enqueues two nodes, another dequeues: in order, with what they hold.
#define _LGPL_SOURCE
#include <assert.h>
#include <pthread.h>
#include <urcu/wfcqueue.h>

struct item {
  int value;
  struct cds_wfcq_node node;
};
static struct __cds_wfcq_head head;
static struct cds_wfcq_tail tail;
static struct item items[2];

static void *producer(void *p) {
  for (int i = 0; i < 2; i++) {
    items[i].value = i + 1;
    cds_wfcq_node_init(&items[i].node);
    cds_wfcq_enqueue(&head, &tail, &items[i].node);
  }
  return 0;
}

int main(void) {
  __cds_wfcq_init(&head, &tail);
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  int expected = 1;
  for (int i = 0; i < 2; i++) {
    struct cds_wfcq_node *node = __cds_wfcq_dequeue_nonblocking(&head, &tail);
    if (node && node != CDS_WFCQ_WOULDBLOCK)
      assert(caa_container_of(node, struct item, node)->value == expected++);
  }
  pthread_join(t, 0);
  return 0;
}
