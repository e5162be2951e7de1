#include <boost/signals2.hpp>

#include <cassert>
#include <thread>

int main() {
  boost::signals2::signal<void(int)> signal;
  int sum = 0;
  auto connection = signal.connect([&](int value) { sum += value; });
  std::thread other([&] { connection.disconnect(); });
  signal(1);
  other.join();
  assert(sum <= 1);
}
