#include <atomic>
#include <cassert>
#include <exception>
#include <stdexcept>
#include <thread>

struct Refused : std::exception {
  const char* what() const noexcept override { return "refused"; }
};

std::atomic<int> x;

void check(int n) {
  if (n == 1) throw Refused();
  if (n == 2) throw std::runtime_error("two");
}

int main() {
  std::thread checker([] {
    try {
      check(x.load());
    } catch (const std::exception& e) {
      assert(e.what()[0] == 'r');
      x = 5;
    }
  });
  x = 1;
  checker.join();
  assert(x != 2);
}
