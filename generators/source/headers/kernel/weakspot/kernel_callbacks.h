// Callbacks of RCU: part of weakspot/kernel.h. The memory model has none. A callback runs in a thread of its
// own, after a grace period: it is ordered after what precedes call_rcu, by the creation of the thread, and
// after the critical sections that had begun before, by synchronize_rcu.
#pragma once
#pragma GCC system_header

#ifndef rcu_head // as a kernel tree calls its callback_head
struct rcu_head {
  void (*func)(struct rcu_head *head);
};
#endif
typedef void (*rcu_callback_t)(struct rcu_head *head);

// The threads of callbacks, for rcu_barrier.
#define WEAKSPOT_CALLBACKS 8
static pthread_t weakspot_callbacks[WEAKSPOT_CALLBACKS];
static unsigned weakspot_callback_count;
// Whether the program calls rcu_barrier.
int weakspot_kernel_has_rcu_barrier(void);
void weakspot_kernel_rcu_barrier(void);
void weakspot_unsupported(const char *what);

static inline void *weakspot_call_back(void *argument) {
  struct rcu_head *head = (struct rcu_head *)argument;
  synchronize_rcu();
  head->func(head);
  return NULL;
}
static inline void *weakspot_free_back(void *object) {
  synchronize_rcu();
  kfree(object);
  return NULL;
}
static inline void weakspot_queue(void *(*run)(void *), void *argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, argument);
  if (weakspot_kernel_has_rcu_barrier()) {
    const unsigned number =
        __atomic_fetch_add(&weakspot_callback_count, 1, __ATOMIC_RELAXED);
    if (number >= WEAKSPOT_CALLBACKS)
      weakspot_unsupported("rcu_barrier with more than 8 callbacks");
    WRITE_ONCE(weakspot_callbacks[number], thread);
  }
}
static inline void call_rcu(struct rcu_head *head, rcu_callback_t func) {
  head->func = func;
  weakspot_queue(weakspot_call_back, head);
}
#define call_rcu_hurry(head, func) call_rcu(head, func)
#define kfree_rcu(pointer, member) weakspot_queue(weakspot_free_back, (pointer))
#define kfree_rcu_mightsleep(pointer) (synchronize_rcu(), kfree(pointer))

// Waits for the callbacks that the caller can know of: that it has queued, or that precede it by what orders
// threads. For one that is queued at the same time it may wait, or not.
static inline void rcu_barrier(void) {
  weakspot_kernel_rcu_barrier();
  const unsigned count = READ_ONCE(weakspot_callback_count);
  for (unsigned n = 0; n < count; n++) {
    const pthread_t thread = __atomic_exchange_n(&weakspot_callbacks[n], 0, __ATOMIC_RELAXED);
    if (thread)
      pthread_join(thread, NULL);
  }
}
