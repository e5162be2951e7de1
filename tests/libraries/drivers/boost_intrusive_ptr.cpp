// The last of two owners destroys the object, after what the other has read of it.
#include <cassert>
#include <thread>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
struct Object : boost::intrusive_ref_counter<Object> {
  int value = 1;
  ~Object() { value = 0; }
};
int main() {
  boost::intrusive_ptr<Object> owner(new Object);
  std::thread other([second = owner] { assert(second->value == 1); });
  owner.reset();
  other.join();
}
