#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
static std::atomic<std::shared_ptr<int>> shared;
int main() {
  std::thread a([] { shared.store(std::make_shared<int>(1)); });
  std::thread b([] {
    if (auto p = shared.load())
      assert(*p == 1);
  });
  a.join(), b.join();
}
