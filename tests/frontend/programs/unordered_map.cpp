#include <cassert>
#include <mutex>
#include <thread>
#include <unordered_map>

std::mutex m;
std::unordered_map<int, int> map;

int main() {
  std::thread other([] {
    std::lock_guard guard(m);
    map[1] = 1;
  });
  {
    std::lock_guard guard(m);
    map[2] = 2;
  }
  other.join();
  assert(map.size() == 2 && map.at(1) == 1);
}
