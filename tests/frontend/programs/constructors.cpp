#include <atomic>
#include <cassert>
#include <cxxabi.h>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

std::atomic<int> count{0};
struct Registry {
  std::vector<int> all;
  std::mutex m;
  ~Registry() { assert(all.size() == 1 && count == 3); }
  void add(int value) {
    std::lock_guard guard(m);
    all.push_back(value);
  }
};
Registry &registry() {
  static Registry made;
  return made;
}
struct Local {
  int value = count.fetch_add(1);
  Local() { registry().add(value); }
  ~Local() { count--; }
};
thread_local Local local;
struct Global {
  Global() { count++; }
  ~Global() { assert(count == 3); }
} global;
std::map<int, std::string> names{{1, "one"}};
__attribute__((constructor(101))) static void first() { count++; }
__attribute__((constructor)) static void second() { count++; }
__attribute__((destructor)) static void last() { assert(count == 3); }

int main() {
  std::thread t([] { assert(local.value == 3); });
  t.join();
  assert(names[1] == "one");
}
