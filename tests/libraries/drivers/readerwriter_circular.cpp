#include <readerwriterqueue/readerwritercircularbuffer.h>
#include <cassert>
#include <thread>
int main() {
  moodycamel::BlockingReaderWriterCircularBuffer<int> queue(2);
  std::thread producer([&] { assert(queue.try_enqueue(1)); });
  std::thread consumer([&] {
    int got;
    if (queue.try_dequeue(got))
      assert(got == 1);
  });
  producer.join();
  consumer.join();
}
