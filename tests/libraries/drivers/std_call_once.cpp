#include <cassert>
#include <mutex>
#include <thread>
static std::once_flag once;
static int value;
static void use() {
  std::call_once(once, [] { value++; });
  assert(value == 1);
}
int main() {
  std::thread a(use), b(use);
  a.join();
  b.join();
}
