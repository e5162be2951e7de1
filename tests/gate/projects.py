"""A project as a new user has it: a queue in C++, a test program, a configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from ended import Ended

QUEUE = """\
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>

/// A ring buffer for one producer and one consumer.
template <typename T, std::size_t Capacity>
class SpscQueue {
public:
  bool try_push(const T &value) {
    const auto tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == Capacity)
      return false;
    slots_[tail % Capacity].store(value, std::memory_order_relaxed);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  std::optional<T> try_pop() {
    const auto head = head_.load(std::memory_order_relaxed);
    if (tail_.load(std::memory_order_acquire) == head)
      return std::nullopt;
    const T value = slots_[head % Capacity].load(std::memory_order_relaxed);
    head_.store(head + 1, std::memory_order_release);
    return value;
  }

private:
  std::atomic<std::size_t> head_{0};
  std::atomic<std::size_t> tail_{0};
  std::atomic<T> slots_[Capacity]{};
};
"""
RELEASE = "tail_.store(tail + 1, std::memory_order_release);"
LINE = next(number for number, line in enumerate(QUEUE.splitlines(), 1) if RELEASE in line)
RELAXED = RELEASE.replace("release", "relaxed")

PUSH_POP = """\
#include <cassert>
#include <thread>

#include "queue.hpp"

int main() {
  SpscQueue<int, 2> queue;
  std::thread producer([&] { queue.try_push(42); });
  std::thread consumer([&] {
    if (auto value = queue.try_pop())
      assert(*value == 42);
  });
  producer.join();
  consumer.join();
}
"""
SB = """\
C SB
{ }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst);
}
~exists (0:r0=0 /\\ 1:r0=0)
"""
WEAK_SB = SB.replace("seq_cst", "release")
CONFIG = """\
build.include = ["include"]
[gate]
scenarios = ["tests/*.cpp", "tests/*.litmus"]
"""


class Project(msgspec.Struct, frozen=True):
    """A user's project, in which `weakspot` runs."""

    folder: Path
    weakspot: Callable[..., Ended]

    def gate(self, *arguments: str) -> Ended:
        return self.weakspot("gate", *arguments)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def weaken(self) -> None:
        """The change that a pull request makes."""
        self.write("include/queue.hpp", QUEUE.replace(RELEASE, RELAXED))
