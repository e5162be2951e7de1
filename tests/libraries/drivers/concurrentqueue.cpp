#include <concurrentqueue/concurrentqueue.h>
#include <cassert>
#include <thread>
int main() {
  moodycamel::ConcurrentQueue<int> queue(2);
  std::thread producer([&] { assert(queue.enqueue(1)); });
  std::thread consumer([&] {
    int got;
    if (queue.try_dequeue(got))
      assert(got == 1);
  });
  producer.join();
  consumer.join();
}
