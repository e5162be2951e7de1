#include <cds/container/vyukov_mpmc_cycle_queue.h>
#include <cassert>
#include <thread>
int main() {
  cds::container::VyukovMPMCCycleQueue<int> queue(2);
  std::thread producer([&] { assert(queue.enqueue(1)); });
  std::thread consumer([&] {
    int got;
    if (queue.dequeue(got))
      assert(got == 1);
  });
  producer.join();
  consumer.join();
}
