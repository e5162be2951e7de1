#include <boost/make_shared.hpp>
#include <boost/smart_ptr/atomic_shared_ptr.hpp>

#include <cassert>
#include <thread>

int main() {
  boost::atomic_shared_ptr<int> shared(boost::make_shared<int>(1));
  std::thread other([&] { shared.store(boost::make_shared<int>(2)); });
  auto seen = shared.load();
  assert(*seen == 1 || *seen == 2);
  other.join();
}
