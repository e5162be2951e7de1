#include <cassert>
#include <future>
#include <thread>
int main() {
  std::promise<int> promise;
  auto future = promise.get_future();
  std::thread a([&] { promise.set_value(1); });
  assert(future.get() == 1);
  a.join();
}
