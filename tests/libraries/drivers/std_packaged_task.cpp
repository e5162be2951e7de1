#include <cassert>
#include <future>
#include <thread>
int main() {
  std::packaged_task<int()> task([] { return 2; });
  auto result = task.get_future();
  std::thread a(std::move(task));
  assert(result.get() == 2);
  a.join();
}
