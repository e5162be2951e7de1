#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::condition_variable_any filled;
std::mutex m;
bool ready;
int data;

int main() {
  std::thread producer([] {
    data = 1;
    {
      std::lock_guard guard(m);
      ready = true;
    }
    filled.notify_one();
  });
  {
    std::unique_lock lock(m);
    filled.wait(lock, [] { return ready; });
  }
  assert(data == 1);
  producer.join();
}
