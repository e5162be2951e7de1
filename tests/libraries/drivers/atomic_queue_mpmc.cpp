#include <atomic_queue/atomic_queue.h>
#include <cassert>
#include <thread>
static atomic_queue::AtomicQueue2<unsigned, 2> queue;
int main() {
  std::thread a([] { assert(queue.try_push(1u)); });
  std::thread b([] { assert(queue.try_push(2u)); });
  unsigned first = 0, second = 0;
  queue.try_pop(first);
  a.join();
  b.join();
  while (queue.try_pop(second)) {
    assert(second != first);
    first = second;
  }
}
