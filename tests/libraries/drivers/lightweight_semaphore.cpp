#include <concurrentqueue/concurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>
#include <cassert>
#include <thread>
static moodycamel::LightweightSemaphore ready(0, 0);
static int data;
int main() {
  std::thread a([] {
    data = 1;
    ready.signal();
  });
  std::thread b([] {
    if (ready.tryWait())
      assert(data == 1);
  });
  a.join(), b.join();
}
