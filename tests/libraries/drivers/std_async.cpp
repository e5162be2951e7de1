#include <cassert>
#include <future>
static int data;
int main() {
  auto result = std::async(std::launch::async, [] {
    data = 1;
    return 2;
  });
  assert(result.get() == 2 && data == 1);
}
