#include <atomic>
#include <cassert>
#include <thread>

int value = 1;
struct alignas(16) Tagged {
  int* pointer;
  unsigned long tag;
};
std::atomic<Tagged> top;

void push() {
  Tagged seen = top.load(std::memory_order_acquire);
  while (!top.compare_exchange_weak(seen, Tagged{&value, seen.tag + 1})) {
  }
}

int main() {
  std::thread other(push);
  push();
  other.join();
  Tagged last = top.load();
  assert(last.tag == 2 && last.pointer == &value);
}
