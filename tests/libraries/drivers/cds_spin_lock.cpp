#include <cds/sync/spinlock.h>
#include <cassert>
#include <mutex>
#include <thread>
static cds::sync::spin mutex;
static int count;
static void add() {
  std::unique_lock<cds::sync::spin> lock(mutex);
  count++;
}
int main() {
  std::thread a(add), b(add);
  a.join(), b.join();
  assert(count == 2);
}
