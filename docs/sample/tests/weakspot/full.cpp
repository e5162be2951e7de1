// A full queue: a slot is used again only after its value was read.
#include <cassert>
#include <thread>

#include <spsc/queue.hpp>

int main() {
  spsc::Queue<int, 1> queue;
  std::thread producer([&] {
    queue.try_push(1);
    queue.try_push(2);
  });
  std::thread consumer([&] {
    int last = 0;
    for (int i = 0; i < 2; ++i)
      if (auto value = queue.try_pop()) {
        assert(*value == last + 1);
        last = *value;
      }
  });
  producer.join();
  consumer.join();
}
