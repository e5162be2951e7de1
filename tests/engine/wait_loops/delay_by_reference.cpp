// A lock that waits longer each time, up to a limit: std::min chooses between references.
// sc,rc20: Safe
// -DPLAIN sc,rc20: Safe
// -DRELAXED rc20: assertion
// -DASSERTED rc20: Unknown: more than 4 times
// -DWRITES rc20: Unknown: more than 4 times
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>
#ifdef RELAXED
#define UNLOCK std::memory_order_relaxed
#else
#define UNLOCK std::memory_order_release
#endif

#ifdef PLAIN
using Delay = int;
static void wait(Delay delay) {
  for (int i = 0; i < delay; i++) std::this_thread::yield();
}
#else
using Delay = std::chrono::microseconds;
static void wait(const Delay &delay) { std::this_thread::sleep_for(delay); }
#endif

struct Lock {
  std::atomic<bool> taken{false};
  std::atomic<int> tried{0};
  void lock() {
    Delay delay(1);
    const Delay most(64);
    while (taken.exchange(true, std::memory_order_acquire)) {
      wait(delay);
      delay = std::min(delay * 2, most);
#ifdef WRITES
      // something depends on it
      tried.store(static_cast<int>(delay / Delay(1)), std::memory_order_relaxed);
#endif
    }
#ifdef ASSERTED
    assert(delay != most);
#endif
  }
  void unlock() { taken.store(false, UNLOCK); }
};

static Lock lock;
static std::atomic<int> count;

static void add() {
  lock.lock();
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  lock.unlock();
}

int main() {
  std::thread other(add);
  add();
  other.join();
  assert(count == 2);
}
