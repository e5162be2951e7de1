#include <boost/smart_ptr/detail/spinlock.hpp>
#include <cassert>
#include <thread>
static boost::detail::spinlock mutex = BOOST_DETAIL_SPINLOCK_INIT;
static int count;
static void add() {
  boost::detail::spinlock::scoped_lock lock(mutex);
  count++;
}
int main() {
  std::thread a(add), b(add);
  a.join(), b.join();
  assert(count == 2);
}
