#include <cassert>
#include <memory>
#include <thread>
struct Value {
  int field = 1;
  ~Value() {
    field = 0;
  }
};
int main() {
  auto one = std::make_shared<Value>();
  auto two = one;
  std::thread a([p = std::move(one)]() mutable {
    assert(p->field == 1);
    p.reset();
  });
  std::thread b([p = std::move(two)]() mutable {
    assert(p->field == 1);
    p.reset();
  });
  a.join();
  b.join();
}
