#include <atomic>
#include <cassert>
#include <thread>
static std::atomic_flag ready;
static int data;
int main() {
  std::thread a([] {
    data = 1;
    ready.test_and_set(std::memory_order_release);
    ready.notify_all();
  });
  std::thread b([] {
    ready.wait(false, std::memory_order_acquire);
    assert(data == 1);
  });
  a.join(), b.join();
}
