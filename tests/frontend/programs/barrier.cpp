#include <cassert>
#include <barrier>
#include <thread>

std::barrier both(2);
int a, b;

int main() {
  std::thread other([] {
    a = 1;
    both.arrive_and_wait();
    assert(b == 1);
  });
  b = 1;
  both.arrive_and_wait();
  assert(a == 1);
  other.join();
}
