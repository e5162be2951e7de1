#include <cassert>
#include <future>
#include <thread>

int data;

int main() {
  std::promise<int> promise;
  auto future = promise.get_future();
  std::thread writer([&] {
    data = 1;
    promise.set_value(42);
  });
  assert(future.get() == 42);
  assert(data == 1);
  writer.join();
}
