// A lock from boost::atomic_flag.
#include <boost/atomic.hpp>
#include <cassert>
#include <thread>
static boost::atomic_flag taken;
static int count;
static void add() {
  while (taken.test_and_set(boost::memory_order_acquire)) {
  }
  count++;
  taken.clear(boost::memory_order_release);
}
int main() {
  std::thread a(add), b(add);
  a.join(), b.join();
  assert(count == 2);
}
