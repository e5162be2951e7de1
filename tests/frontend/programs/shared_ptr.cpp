#include <cassert>
#include <memory>
#include <thread>

int destroyed;
struct Value {
  int number = 1;
  ~Value() { ++destroyed; }
};

int main() {
  auto value = std::make_shared<Value>();
  std::thread other([value] { assert(value->number == 1); });
  value.reset();
  other.join();
  assert(destroyed == 1);
}
