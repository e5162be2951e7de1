// POCO: two threads drop their references to an object, and the last one destroys it.
#include <Poco/AutoPtr.h>
#include <Poco/RefCountedObject.h>

#include <cassert>
#include <thread>

struct Shared : Poco::RefCountedObject {
  int first = 0, second = 0;
  ~Shared() { assert(first == 1 && second == 1); }
};

int main() {
  Poco::AutoPtr<Shared> object(new Shared), other(object);
  std::thread thread([&] {
    other->first = 1;
    other = nullptr;
  });
  object->second = 1;
  object = nullptr;
  thread.join();
}
