#include <oneapi/tbb/spin_mutex.h>
#include <cassert>
#include <thread>
static tbb::spin_mutex mutex;
static int count;
static void add() {
  tbb::spin_mutex::scoped_lock lock(mutex);
  count++;
}
int main() {
  std::thread a(add), b(add);
  a.join();
  b.join();
  assert(count == 2);
}
