#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<int> ready;
static int data;
int main() {
  std::thread a([] {
    data = 1;
    ready.store(1, std::memory_order_release);
    ready.notify_one();
  });
  std::thread b([] {
    ready.wait(0, std::memory_order_acquire);
    assert(data == 1);
  });
  a.join();
  b.join();
}
