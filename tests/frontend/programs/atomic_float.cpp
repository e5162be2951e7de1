#include <atomic>
#include <cassert>
#include <thread>

std::atomic<double> sum;
std::atomic<float> least;
double data;

int main() {
  std::thread adder([] {
    data = 0.25;
    sum.fetch_add(1.5, std::memory_order_release);
    least -= 2.0f;
  });
  if (sum.load(std::memory_order_acquire) == 1.5) assert(data == 0.25);
  sum.fetch_add(2.5, std::memory_order_relaxed);
  least.fetch_add(1.0f, std::memory_order_relaxed);
  adder.join();
  assert(sum == 4.0 && least == -1.0f);
}
