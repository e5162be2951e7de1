#include <cassert>
#include <memory_resource>
#include <mutex>
#include <thread>

std::mutex m;
int n;

int main() {
  auto add = [] {
    std::lock_guard guard(m);
    ++n;
  };
  std::thread other(add);
  add();
  other.join();
  assert(n == 2);
}
