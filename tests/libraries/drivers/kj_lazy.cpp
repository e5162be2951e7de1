// Cap'n Proto's kj: a value that the first thread that asks for it makes.
#include <kj/mutex.h>

#include <cassert>
#include <thread>

int main() {
  kj::Lazy<int> lazy;
  auto get = [&] { return lazy.get([](kj::SpaceFor<int> &space) { return space.construct(1); }); };
  std::thread thread([&] { assert(get() == 1); });
  assert(get() == 1);
  thread.join();
}
