// What a lock without a mutex throws, with the text of its error number. Its category is a static
// variable of a function of the library.
#include <atomic>
#include <cassert>
#include <mutex>
#include <system_error>
#include <thread>

static std::atomic<int> refused;

static void lock_nothing() {
  std::unique_lock<std::mutex> lock;
  try {
    lock.lock();
  } catch (const std::system_error &error) {
    assert(error.code() == std::errc::operation_not_permitted);
    refused.fetch_add(1, std::memory_order_relaxed);
  }
}

int main() {
  std::thread worker(lock_nothing);
  lock_nothing();
  worker.join();
  assert(refused == 2);
}
