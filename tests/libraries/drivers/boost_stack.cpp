#include <boost/lockfree/stack.hpp>
#include <cassert>
#include <thread>
static boost::lockfree::stack<int, boost::lockfree::capacity<2>> stack;
int main() {
  std::thread producer([] { assert(stack.push(1)); });
  std::thread consumer([] {
    int got;
    if (stack.pop(got))
      assert(got == 1);
  });
  producer.join();
  consumer.join();
}
