// The function is called once, before either call returns.
#include <absl/base/call_once.h>
#include <cassert>
#include <thread>
static absl::once_flag once;
static int x;
static void run() {
  absl::call_once(once, [] { x++; });
  assert(x == 1);
}
int main() {
  std::thread other(run);
  run();
  other.join();
}
