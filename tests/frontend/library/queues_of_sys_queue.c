// Safe
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

struct n { int v; TAILQ_ENTRY(n) link; }; static TAILQ_HEAD(, n) q; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *p) {
  struct n *e = malloc(sizeof *e);
  e->v = 1;
  pthread_mutex_lock(&m);
  TAILQ_INSERT_TAIL(&q, e, link);
  pthread_mutex_unlock(&m);
  return 0;
}

static void *other(void *p) {
  pthread_mutex_lock(&m);
  struct n *e;
  TAILQ_FOREACH(e, &q, link) assert(e->v == 1);
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t thread_1, thread_2;
  TAILQ_INIT(&q);
  pthread_create(&thread_1, 0, one, 0);
  pthread_create(&thread_2, 0, other, 0);
  pthread_join(thread_1, 0);
  pthread_join(thread_2, 0);
  assert(TAILQ_FIRST(&q)->v == 1);
  return 0;
}
