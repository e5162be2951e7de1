#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex m;
int n;

int main() {
  std::thread writer([] {
    std::unique_lock lock(m);
    ++n;
    ++n;
  });
  {
    std::shared_lock lock(m);
    assert(n == 0 || n == 2);
  }
  writer.join();
}
