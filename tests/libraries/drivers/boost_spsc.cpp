#include <boost/lockfree/spsc_queue.hpp>
#include <cassert>
#include <thread>
static boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>> queue;
int main() {
  std::thread producer([] {
    assert(queue.push(1));
    assert(queue.push(2));
  });
  std::thread consumer([] {
    int got;
    if (queue.pop(got)) {
      assert(got == 1);
      if (queue.pop(got))
        assert(got == 2);
    }
  });
  producer.join();
  consumer.join();
}
