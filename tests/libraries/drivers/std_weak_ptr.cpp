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
  auto strong = std::make_shared<Value>();
  std::weak_ptr<Value> weak = strong;
  std::thread a([p = std::move(strong)]() mutable { p.reset(); });
  std::thread b([w = std::move(weak)] {
    if (auto p = w.lock())
      assert(p->field == 1);
  });
  a.join();
  b.join();
}
