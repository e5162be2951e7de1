#include <readerwriterqueue/readerwriterqueue.h>
#include <cassert>
#include <thread>
static moodycamel::ReaderWriterQueue<int *> queue(2);
static int payload;
int main() {
  std::thread producer([] {
    payload = 1;
    assert(queue.try_enqueue(&payload));
  });
  std::thread consumer([] {
    int *got;
    if (queue.try_dequeue(got))
      assert(*got == 1);
  });
  producer.join();
  consumer.join();
}
