#include <cassert>
#include <mutex>
#include <thread>

std::once_flag once;
int made;

int main() {
  auto use = [] {
    std::call_once(once, [] { ++made; });
    assert(made == 1);
  };
  std::thread other(use);
  use();
  other.join();
}
