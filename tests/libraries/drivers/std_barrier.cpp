#include <barrier>
#include <cassert>
#include <thread>
static int x, y;
int main() {
  std::barrier<> meet(2);
  std::thread a([&] {
    x = 1;
    meet.arrive_and_wait();
    assert(y == 1);
  });
  std::thread b([&] {
    y = 1;
    meet.arrive_and_wait();
    assert(x == 1);
  });
  a.join();
  b.join();
}
