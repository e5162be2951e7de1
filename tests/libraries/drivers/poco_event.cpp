// POCO: what a thread wrote before it sets an event is read after the wait for it, and behind a
// reader's lock.
#include <Poco/Event.h>
#include <Poco/RWLock.h>

#include <cassert>
#include <thread>

int main() {
  Poco::Event event;
  Poco::RWLock lock;
  int value = 0, data = 0;
  std::thread thread([&] {
    {
      Poco::ScopedWriteRWLock locked(lock);
      value = 1;
    }
    data = 1;
    event.set();
  });
  {
    Poco::ScopedReadRWLock locked(lock);
    assert(value == 0 || value == 1);
  }
  event.wait();
  assert(data == 1 && value == 1);
  thread.join();
}
