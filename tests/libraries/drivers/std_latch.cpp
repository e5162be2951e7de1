#include <cassert>
#include <latch>
#include <thread>
static std::latch ready(2);
static int x, y;
int main() {
  std::thread a([] {
    x = 1;
    ready.arrive_and_wait();
    assert(y == 1);
  });
  std::thread b([] {
    y = 1;
    ready.arrive_and_wait();
    assert(x == 1);
  });
  a.join();
  b.join();
}
