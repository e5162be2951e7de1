#include <cassert>
#include <shared_mutex>
#include <thread>
static std::shared_mutex mutex;
static int x, y;
int main() {
  std::thread writer([] {
    std::unique_lock lock(mutex);
    x = 1;
    y = 1;
  });
  std::thread reader([] {
    std::shared_lock lock(mutex);
    assert(x == y);
  });
  writer.join();
  reader.join();
}
