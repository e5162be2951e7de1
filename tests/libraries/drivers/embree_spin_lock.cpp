// A lock that is taken by lock in one thread and by try_lock in another.
#include <cassert>
#include <sys/mutex.h>
#include <thread>

static embree::SpinLock lock;
static int count;

int main() {
  std::thread thread([] {
    embree::Lock<embree::SpinLock> held(lock);
    count++;
  });
  int more = lock.try_lock();
  if (more) {
    count++;
    lock.unlock();
  }
  thread.join();
  assert(count == 1 + more);
}
