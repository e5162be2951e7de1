// What is written before a push is visible after the pop, at a size chosen at run time.
#include <boost/lockfree/spsc_queue.hpp>
#include <cassert>
#include <thread>
static int payload;
int main() {
  boost::lockfree::spsc_queue<int *> queue(2);
  std::thread producer([&] {
    payload = 1;
    assert(queue.push(&payload));
  });
  std::thread consumer([&] {
    int *got;
    if (queue.pop(got))
      assert(*got == 1);
  });
  producer.join(), consumer.join();
}
