// Cap'n Proto's kj: two threads drop their references to an object, and the last one destroys it.
#include <kj/refcount.h>

#include <cassert>
#include <thread>

struct Shared : kj::AtomicRefcounted {
  int first = 0, second = 0;
  ~Shared() { assert(first == 1 && second == 1); }
};

int main() {
  auto object = kj::atomicRefcounted<Shared>();
  auto other = kj::atomicAddRef(*object);
  std::thread thread([&] {
    other->first = 1;
    other = nullptr;
  });
  object->second = 1;
  object = nullptr;
  thread.join();
}
