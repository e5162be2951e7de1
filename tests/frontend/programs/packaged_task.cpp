#include <cassert>
#include <future>
#include <thread>

int main() {
  int data = 0;
  std::packaged_task<int(int)> task([&](int more) {
    data = 1;
    return 41 + more;
  });
  std::thread other([&] { task(1); });
  std::future<int> future = task.get_future();
  assert(future.get() == 42 && data == 1);
  other.join();
  bool refused = false;
  try {
    auto second = task.get_future();
  } catch (const std::future_error &error) {
    refused = error.code() == std::future_errc::future_already_retrieved;
  }
  assert(refused);
  task.reset();
  std::packaged_task next = std::move(task);
  future = next.get_future();
  assert(!task.valid());
  next(2);
  assert(future.get() == 43);
}
