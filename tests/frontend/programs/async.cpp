#include <cassert>
#include <future>

int data;

int main() {
  auto future = std::async(std::launch::async, [] {
    data = 1;
    return 42;
  });
  assert(future.get() == 42);
  assert(data == 1);
}
