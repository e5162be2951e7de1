#include <cassert>
#include <future>
#include <stdexcept>

int main() {
  auto future = std::async(std::launch::async, []() -> int { throw std::runtime_error("late"); });
  bool caught = false;
  try {
    future.get();
  } catch (const std::runtime_error& error) {
    caught = error.what()[0] == 'l';
  }
  assert(caught);
}
