#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex mutex;
static std::condition_variable changed;
static bool ready;
int main() {
  std::thread a([] {
    {
      std::lock_guard lock(mutex);
      ready = true;
    }
    changed.notify_one();
  });
  std::thread b([] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return ready; });
    assert(ready);
  });
  a.join(), b.join();
}
