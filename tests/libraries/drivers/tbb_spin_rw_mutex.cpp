#include <tbb/spin_rw_mutex.h>
#include <cassert>
#include <thread>
static tbb::spin_rw_mutex mutex;
static int x, y;
int main() {
  std::thread writer([] {
    tbb::spin_rw_mutex::scoped_lock lock(mutex, true);
    x = 1;
    y = 1;
  });
  std::thread reader([] {
    tbb::spin_rw_mutex::scoped_lock lock(mutex, false);
    assert(x == y);
  });
  writer.join();
  reader.join();
}
