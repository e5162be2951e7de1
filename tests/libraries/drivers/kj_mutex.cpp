// Cap'n Proto's kj: an exclusive lock and a shared one, which waits by a futex.
#include <kj/mutex.h>

#include <cassert>
#include <thread>

int main() {
  kj::MutexGuarded<int> value(0);
  std::thread thread([&] { *value.lockExclusive() += 1; });
  int seen = *value.lockShared();
  assert(seen == 0 || seen == 1);
  *value.lockExclusive() += 1;
  thread.join();
  assert(value.getWithoutLock() == 2);
}
