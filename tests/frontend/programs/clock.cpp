#include <atomic>
#include <cassert>
#include <chrono>
#include <thread>

std::atomic<int> ready;
int data;

int main() {
  std::thread writer([] {
    data = 1;
    ready.store(1, std::memory_order_release);
  });
  auto before = std::chrono::steady_clock::now();
  auto deadline = before + std::chrono::seconds(1);
  bool seen = false;
  while (!seen && std::chrono::steady_clock::now() < deadline)
    seen = ready.load(std::memory_order_acquire);
  if (seen) assert(data == 1);
  assert(std::chrono::steady_clock::now() >= before);
  writer.join();
}
