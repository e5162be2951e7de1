// Handlers by base class, by type, of all; cleanups; exceptions that are thrown again.
#include <cassert>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

struct Base {
  virtual ~Base() = default;
  int a = 1;
};
struct Other {
  virtual ~Other() = default;
  int b = 2;
};
struct Both : Base, Other {};

int destroyed;
struct Guard {
  ~Guard() { ++destroyed; }
};
std::mutex m;
int value;

void inner(int n) {
  Guard guard;
  std::lock_guard lock(m);
  if (n == 1) throw Both();
  if (n == 2) throw 7;
  if (n == 3) throw std::out_of_range("far");
}

void outer(int n) {
  Guard guard;
  try {
    inner(n);
  } catch (int i) {
    assert(i == 7);
    throw;
  }
}

int main() {
  int caught = 0;
  try {
    outer(1);
  } catch (const Other& other) {
    assert(other.b == 2);
    caught = 1;
  }
  assert(caught == 1 && destroyed == 2);
  try {
    outer(2);
  } catch (const std::exception&) {
    assert(false);
  } catch (int i) {
    caught = i;
  }
  assert(caught == 7 && destroyed == 4);
  std::thread thread([] {
    try {
      outer(3);
    } catch (const std::logic_error& error) {
      std::lock_guard lock(m);
      value = error.what()[0];
    } catch (...) {
      assert(false);
    }
  });
  thread.join();
  assert(value == 'f' && destroyed == 6);
  try {
    try {
      throw 1;
    } catch (...) {
      throw 2.5;
    }
  } catch (double d) {
    assert(d == 2.5);
  }
  assert(std::uncaught_exceptions() == 0);
}
