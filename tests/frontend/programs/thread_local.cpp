#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> destroyed;

struct Counter {
  int value = 1;
  ~Counter() { destroyed.fetch_add(value, std::memory_order_relaxed); }
};
thread_local Counter counter;

int main() {
  std::thread other([] { counter.value = 2; });
  other.join();
  assert(destroyed == 2);
}
