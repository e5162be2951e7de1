// A queue of one element that gives the oldest back to the producer when it is full: each element is
// popped or returned.
#include <cassert>
#include <iceoryx_hoofs/internal/concurrent/sofi.hpp>
#include <thread>

int main() {
  iox::concurrent::SoFi<int, 1> queue;
  int returned = 0, popped = 0;
  std::thread producer([&] {
    queue.push(1, returned);
    queue.push(2, returned);
  });
  bool some = queue.pop(popped);
  producer.join();
  assert(!some || popped == (returned == 1 ? 2 : 1));
}
