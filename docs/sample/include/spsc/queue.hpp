#pragma once
#include <atomic>
#include <cstddef>
#include <optional>

namespace spsc {

/// A ring buffer for one producer and one consumer.
template <typename T, std::size_t Capacity>
class Queue {
public:
  bool try_push(const T &value) {
    const auto tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == Capacity)
      return false;
    slots_[tail % Capacity] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  std::optional<T> try_pop() {
    const auto head = head_.load(std::memory_order_relaxed);
    if (tail_.load(std::memory_order_acquire) == head)
      return std::nullopt;
    const T value = slots_[head % Capacity];
    head_.store(head + 1, std::memory_order_release);
    return value;
  }

private:
  std::atomic<std::size_t> head_{0};
  std::atomic<std::size_t> tail_{0};
  T slots_[Capacity]{};
};

} // namespace spsc
