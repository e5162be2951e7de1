#include <boost/lockfree/queue.hpp>
#include <cassert>
#include <thread>
static boost::lockfree::queue<int> queue(2);
int main() {
  std::thread producer([] { assert(queue.bounded_push(1)); });
  std::thread consumer([] {
    int got;
    if (queue.pop(got))
      assert(got == 1);
  });
  producer.join();
  consumer.join();
}
