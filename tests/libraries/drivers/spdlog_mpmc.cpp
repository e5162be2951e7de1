#include <spdlog/common.h>
#include <spdlog/details/mpmc_blocking_q.h>

#include <cassert>
#include <chrono>
#include <thread>

int main() {
  spdlog::details::mpmc_blocking_queue<int> queue(2);
  std::thread producer([&] { queue.enqueue(42); });
  int item = 0;
  bool taken = queue.dequeue_for(item, std::chrono::milliseconds(100));
  assert(taken == (item == 42));
  producer.join();
}
