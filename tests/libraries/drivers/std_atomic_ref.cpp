#include <atomic>
#include <cassert>
#include <thread>
static int flag, data;
int main() {
  std::thread a([] {
    data = 1;
    std::atomic_ref(flag).store(1, std::memory_order_release);
  });
  std::thread b([] {
    if (std::atomic_ref(flag).load(std::memory_order_acquire))
      assert(data == 1);
  });
  a.join(), b.join();
}
