#include <QtCore/QSharedPointer>

#include <cassert>
#include <thread>

int main() {
  QSharedPointer<int> shared(new int(42));
  QWeakPointer<int> weak = shared;
  std::thread other([&] {
    if (auto strong = weak.toStrongRef())
      assert(*strong == 42);
  });
  shared.reset();
  other.join();
}
