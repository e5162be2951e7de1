#include <atomic>
#include <cassert>
#include <thread>

using Wide = unsigned __int128;
std::atomic<Wide> sum;

int main() {
  std::thread other([] { sum.fetch_add(~0ull); });
  sum.fetch_add(1);
  other.join();
  Wide last = sum.load();
  assert(last == Wide(1) << 64 && last > ~0ull);
  assert((unsigned long)(last >> 64) == 1 && (unsigned long)last == 0);
}
