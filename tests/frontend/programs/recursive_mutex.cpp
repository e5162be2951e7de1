#include <cassert>
#include <mutex>
#include <thread>

std::recursive_mutex m;
int count;

int main() {
  std::thread thread([] {
    m.lock();
    std::lock_guard again(m);
    ++count;
    m.unlock();
  });
  m.lock();
  ++count;
  m.unlock();
  thread.join();
  assert(count == 2);
}
