// One push and one pop that wait for each other.
#include <atomic_queue/atomic_queue.h>
#include <cassert>
#include <thread>
static atomic_queue::AtomicQueue<unsigned, 2> queue;
int main() {
  std::thread producer([] { queue.push(1u); });
  std::thread consumer([] { assert(queue.pop() == 1); });
  producer.join(), consumer.join();
}
