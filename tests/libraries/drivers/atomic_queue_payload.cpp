// One producer and one consumer of atomic_queue::AtomicQueue: what is popped is what was pushed.
#include <atomic_queue/atomic_queue.h>
#include <cassert>
#include <thread>
static atomic_queue::AtomicQueue<unsigned, 2, 0u, true, true, false, true> queue;
static unsigned payload;
int main() {
  std::thread producer([] {
    payload = 7;
    bool pushed = queue.try_push(1u);
    assert(pushed);
  });
  std::thread consumer([] {
    unsigned got;
    if (queue.try_pop(got))
      assert(got == 1 && payload == 7);
  });
  producer.join();
  consumer.join();
}
