#include <cassert>
#include <memory>
#include <thread>
static std::shared_ptr<int> shared;
int main() {
  std::thread a([] { std::atomic_store(&shared, std::make_shared<int>(1)); });
  std::thread b([] {
    if (auto p = std::atomic_load(&shared))
      assert(*p == 1);
  });
  a.join();
  b.join();
}
