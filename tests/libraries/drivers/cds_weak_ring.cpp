#include <cds/container/weak_ringbuffer.h>
#include <cassert>
#include <thread>
int main() {
  cds::container::WeakRingBuffer<int> ring(2);
  std::thread producer([&] { assert(ring.push(1)); });
  std::thread consumer([&] {
    int got;
    if (ring.pop(got))
      assert(got == 1);
  });
  producer.join(), consumer.join();
}
