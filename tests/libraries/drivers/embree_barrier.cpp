// What each thread writes before the barrier is read by the other behind it.
#include <cassert>
#include <sys/barrier.h>
#include <thread>

static embree::BarrierActive barrier;
static int written[2], other[2];

int main() {
  std::thread thread([] {
    written[1] = 1;
    barrier.wait(2);
    other[1] = written[0];
  });
  written[0] = 1;
  barrier.wait(2);
  other[0] = written[1];
  thread.join();
  assert(other[0] && other[1]);
}
