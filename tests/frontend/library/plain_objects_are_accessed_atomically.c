// Safe
// gcc's <stdatomic.h> takes objects that are not _Atomic.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *next; };
static struct node *head;
static struct pair { int a, b; } pair;
static unsigned count;
static void *run(void *p) {
  struct node *old = atomic_load(&head);
  while (!atomic_compare_exchange_weak(&head, &old, (struct node *)p)) {
  }
  atomic_store(&pair, (struct pair){1, 1});
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return atomic_exchange_explicit(&head, old, memory_order_acq_rel);
}
int main(void) {
  static struct node nodes[2];
  const volatile atomic_int one = 1;
  pthread_t thread;
  pthread_create(&thread, 0, run, nodes);
  run(nodes + 1);
  pthread_join(thread, 0);
  assert(atomic_load_explicit(&count, memory_order_acquire) == 2 && atomic_load(&one) == 1);
  assert(atomic_load(&pair).b == 1);
}
